package felix

import (
	"context"
	"errors"
	"testing"
)

// A caller whose context ends does not wait for a token that another caller is asking for.
func TestSlowTokenSource(t *testing.T) {
	asked, answer := make(chan struct{}), make(chan struct{})
	s := tokens{turn: make(chan struct{}, 1), source: TokenFunc(func(context.Context) (string, error) {
		close(asked)
		<-answer
		return "token", nil
	})}
	first := make(chan string, 1)
	go func() {
		token, _, _ := s.get(context.Background(), "")
		first <- token
	}()
	<-asked
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := s.get(ctx, ""); !errors.Is(err, context.Canceled) {
		t.Errorf("the second caller: %v, want context.Canceled", err)
	}
	close(answer)
	if token := <-first; token != "token" {
		t.Errorf("the first caller got %q", token)
	}
}
