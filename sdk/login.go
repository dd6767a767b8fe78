package felix

import (
	"context"
	"fmt"
	"io"

	"github.com/felix-go/felix/dataplane/transport"
	"github.com/felix-go/felix/dataplane/wire"
)

// login is a request stream after its login.
type login struct {
	stream   *transport.Stream
	in       *frameReader
	flags    wire.Flags
	features wire.Features
	window   int
}

// defaultWindow bounds unanswered requests of a stream whose broker granted none.
const defaultWindow = 64

// login opens a stream and authenticates it. A refused token is asked for once more: the source may have a newer one.
func (l *link) login(ctx context.Context) (*login, error) {
	refusedToken := ""
	var last error
	for range 2 {
		token, fresh, err := l.c.tokens.get(ctx, refusedToken)
		if err != nil {
			return nil, err
		}
		if last != nil && !fresh {
			return nil, last
		}
		in, err := l.loginWith(ctx, token)
		if err == nil {
			return in, nil
		}
		if e, ok := err.(*Error); !ok || e.Code != wire.CodeUnauthenticated.String() {
			return nil, err
		}
		refusedToken, last = token, err
	}
	return nil, last
}

func (l *link) loginWith(ctx context.Context, token string) (*login, error) {
	st, err := l.conn.OpenStream(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return nil, abandoned("login", ctx, false)
		}
		return nil, lost("login", err, false)
	}
	// A context that ends while the login is under way takes the stream with it.
	stopWatch := context.AfterFunc(ctx, func() { cutStream(st) })
	in, err := l.exchangeAuth(st, token)
	if !stopWatch() && ctx.Err() != nil {
		return nil, abandoned("login", ctx, false)
	}
	if err != nil {
		cutStream(st)
		return nil, err
	}
	return in, nil
}

func (l *link) exchangeAuth(st *transport.Stream, token string) (*login, error) {
	flags, features := l.c.offered()
	if _, err := st.Send().Write(wire.AppendAuth(nil, &wire.Auth{Tenant: l.c.cfg.tenant, Token: token, Flags: flags,
		Features: features})); err != nil {
		return nil, lost("login", err, false)
	}
	in := &login{stream: st, in: newFrameReader(st.Receive(), 16<<10), flags: wire.BaselineFlags, window: defaultWindow}
	f, payload, err := in.in.next(false)
	if err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, lost("login", err, false)
	}
	var m wire.Message
	if f != 0 || wire.ParseMessage(payload, &m) != nil {
		return nil, lost("login", fmt.Errorf("felix: unreadable answer to a login"), false)
	}
	switch m.Type {
	case wire.MsgOK:
	case wire.MsgAuthOK:
		in.flags, in.features = m.ServerFlags, m.ServerFeatures
		if m.PublishWindow > 0 {
			in.window = int(min(m.PublishWindow, 4096))
		}
	case wire.MsgError:
		return nil, refused("login", m.Refusal())
	default:
		return nil, lost("login", fmt.Errorf("felix: %s in answer to a login", m.Type), false)
	}
	return in, nil
}

// cutStream ends both halves of a stream.
func cutStream(st *transport.Stream) {
	st.Receive().StopReading(transport.StreamCancelled)
	st.Send().Reset(transport.StreamCancelled)
}
