package felix

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"
)

// tokens holds the current token of a client.
type tokens struct {
	source TokenSource

	// turn is held by whoever asks the source, and guards the following. A channel, because the source may take long and a
	// caller whose context ends must not wait for another's.
	turn    chan struct{}
	held    string
	renewAt time.Time // zero: never
}

// get returns a token to log in with. refused names one that the broker refused; fresh is false when the source has no other.
func (t *tokens) get(ctx context.Context, refused string) (token string, fresh bool, err error) {
	if t.source == nil {
		return "", false, errNoToken
	}
	select {
	case t.turn <- struct{}{}:
	case <-ctx.Done():
		return "", false, abandoned("token", ctx, false)
	}
	defer func() { <-t.turn }()
	due := t.held == "" || t.held == refused || !t.renewAt.IsZero() && time.Now().After(t.renewAt)
	if !due {
		return t.held, true, nil
	}
	token, err = t.source.Token(ctx)
	if err != nil {
		if t.held != "" && t.held != refused {
			return t.held, true, nil // the old one still works
		}
		return "", false, err
	}
	fresh = token != refused
	t.held, t.renewAt = token, renewal(token, time.Now())
	return token, fresh, nil
}

// renewal is when two thirds of a JWT's remaining life are over; zero for a token without a readable end.
func renewal(token string, now time.Time) time.Time {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return time.Time{}
	}
	b, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return time.Time{}
	}
	var claims struct {
		Expires float64 `json:"exp"`
	}
	if json.Unmarshal(b, &claims) != nil || claims.Expires <= 0 {
		return time.Time{}
	}
	left := time.Unix(int64(claims.Expires), 0).Sub(now)
	return now.Add(left * 2 / 3)
}
