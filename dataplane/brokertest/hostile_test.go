package brokertest_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/felix-go/felix/controlplane/api"
	"github.com/felix-go/felix/controlplane/token"
	"github.com/felix-go/felix/dataplane/broker"
	"github.com/felix-go/felix/dataplane/brokertest"
	"github.com/felix-go/felix/dataplane/transport"
	"github.com/felix-go/felix/dataplane/wire"
)

// hostile is one attack: bytes on a stream, before or after the login.
type hostile struct {
	name  string
	bytes []byte
	// open leaves the stream open instead of finishing it: the broker must not depend on the FIN.
	open bool
}

func frame(f wire.Flags, payload []byte) []byte {
	return append(wire.AppendHeader(nil, f, len(payload)), payload...)
}

func lie(f wire.Flags, length uint32, payload []byte) []byte {
	b := frame(f, payload)
	binary.BigEndian.PutUint32(b[8:], length)
	return b
}

func text(s string) []byte { return frame(0, []byte(s)) }

// corpus is generated from the protocol's tables: every header field, every flag, every message type in both directions, every
// publish layout cut and bent at every part.
func corpus(tenant string) (all []hostile) {
	add := func(name string, b []byte) { all = append(all, hostile{name: name, bytes: b}) }
	ok := text(`{"type":"topology"}`)
	for i := range 6 { // magic and version, each byte flipped
		for _, x := range []byte{0x01, 0x80, 0xFF} {
			b := bytes.Clone(ok)
			b[i] ^= x
			add(fmt.Sprintf("header byte %d ^ %#x", i, x), b)
		}
	}
	for bit := range 16 { // every flag alone, over JSON and over nonsense
		add(fmt.Sprintf("flag %#x over json", 1<<bit), frame(1<<bit, []byte(`{"type":"ok"}`)))
		add(fmt.Sprintf("flag %#x over nothing", 1<<bit), frame(1<<bit, nil))
		add(fmt.Sprintf("flag %#x with publish", 1<<bit|1), frame(1<<bit|1, bytes.Repeat([]byte{0xFF}, 64)))
	}
	add("all flags", frame(0xFFFF, []byte("x")))
	for _, n := range []uint32{1, 2, 13, 65_535, 65_536, 65_537, 1 << 20, 16 << 20, 16<<20 + 1, 1 << 30, math.MaxInt32, math.MaxUint32} {
		for _, f := range []wire.Flags{0, 0x0001, 0x0009, 0x0109, 0x8000} {
			add(fmt.Sprintf("length %d, flags %#x, nothing follows", n, uint16(f)), lie(f, n, nil))
			add(fmt.Sprintf("length %d, flags %#x, 8 bytes follow", n, uint16(f)), lie(f, n, make([]byte, 8)))
		}
	}
	for t := wire.MsgAuth; t.String() != "unknown"; t++ { // every message of the catalogue, with nothing and with rubbish in it
		add(t.String()+" empty", text(`{"type":"`+t.String()+`"}`))
		add(t.String()+" of wrong types", text(`{"type":"`+t.String()+`","tenant_id":1,"namespace":[],"stream":{},"cache":null,"key":3,"value":4,"request_id":"x","token":{},"payload":7,"payloads":"p","subscription_id":-1,"offset":1.5}`))
		add(t.String()+" of other scope", text(`{"type":"`+t.String()+`","tenant_id":"other","namespace":"n","stream":"s","cache":"c","name":"x","kind":"stream","key":"k","value":"","payload":"","payloads":[],"request_id":18446744073709551615,"shard":4294967295,"group":"g","max_records":4294967295,"offset":18446744073709551615,"token":"t","delta":-9223372036854775808,"ttl_ms":null,"condition":"absent","version":0,"expected_offset":0,"entity_key":"","event":"","at_micros":0,"from":0,"start":"earliest","producer_id":1,"sequence":0,"attempts":0,"extend_ms":0,"shards":0}`))
	}
	for i, s := range []string{``, `{`, `}`, `null`, `[]`, `"x"`, `0`, `{"type":}`, `{"type":null}`, `{"type":1}`, `{"type":"topology"`, `{"type":"topology"}x`,
		`{"type":"topology"} {"type":"topology"}`, `{"type":"no such type","request_id":1}`, `{"type":"no such type","request_id":-1}`,
		`{"type":"no such type","request_id":1e3}`, `{"type":"\u0061uth"}`, `{"type":"topology","type":"ok"}`, `{"type":"topology","x":` + strings.Repeat("[", 20_000) + `}`,
		`{"type":"topology","x":` + strings.Repeat(`{"a":`, 5_000) + `1`, `{"type":"topology","x":1e999999}`, `{"type":"topology","x":"\ud800"}`,
		`{"type":"topology","x":"` + "\xff\xfe" + `"}`, "{\"type\":\"topology\",\"x\":\"\x00\"}", `{"type":"publish","tenant_id":"t","namespace":"n","stream":"s","payload":"!!!!"}`,
		`{"type":"publish","tenant_id":"t","namespace":"n","stream":"s","payload":"YQ"}`, `{"type":"publish","tenant_id":"t","namespace":"n","stream":"s","payload":"YQ==","ack":"sometimes"}`,
		`{"type":"publish","tenant_id":"` + tenant + `","namespace":"default","stream":"s","payload":"YQ==","ack":"per_message"}`,
		`{"type":"publish_batch","tenant_id":"` + tenant + `","namespace":"default","stream":"s","payloads":[],"request_id":1}`,
		`{"type":"publish_batch","tenant_id":"` + tenant + `","namespace":"default","stream":"s","payloads":["YQ==",1],"request_id":1}`,
		`{"type":"cache_put","tenant_id":"` + tenant + `","namespace":"default","cache":"c","key":"k","value":"YQ==","ttl_ms":0,"request_id":1}`,
		`{"type":"cache_put","tenant_id":"` + tenant + `","namespace":"default","cache":"c","key":"k","value":"YQ==","ttl_ms":18446744073709551615,"request_id":1}`,
		`{"type":"cache_put","tenant_id":"` + tenant + `","namespace":"default","cache":"c","key":"k","value":"YQ==","ttl_ms":-1,"request_id":1}`,
		`{"type":"cache_put","tenant_id":"` + tenant + `","namespace":"default","cache":"c","key":"k","value":"YQ==","ttl_ms":0.5,"request_id":1}`,
		`{"type":"cache_put","tenant_id":"` + tenant + `","namespace":"default","cache":"c","key":"k","value":"YQ==","ttl_ms":"1","request_id":1}`,
		`{"type":"cache_put","tenant_id":"` + tenant + `","namespace":"default","cache":"c","key":"` + strings.Repeat("k", 65_000) + `","value":"YQ==","request_id":1}`,
		`{"type":"subscribe","tenant_id":"` + tenant + `","namespace":"default","stream":"s","start":{"offset":18446744073709551615}}`,
		`{"type":"subscribe","tenant_id":"` + tenant + `","namespace":"default","stream":"s","start":"middle"}`,
		`{"type":"subscribe","tenant_id":"` + tenant + `","namespace":"default","stream":"s","shard":4294967295}`,
		`{"type":"subscribe","tenant_id":"` + tenant + `","namespace":"default","stream":"s","queue_capacity":4294967295}`,
		`{"type":"extension","name":"x","request_id":1,"body":{"a":[1,2,{"b":null}]}}`,
		`{"type":"auth","tenant_id":"` + tenant + `","token":"x"}`,
	} {
		add(fmt.Sprintf("json %d", i), text(s))
	}
	for _, f := range []wire.Flags{0x0001, 0x0041, 0x0009, 0x0049, 0x0109, 0x0149} {
		good := publishFrame(f, tenant)
		payload := good[wire.HeaderLen:]
		for _, cut := range []int{0, 1, 7, 8, 9, 10, 12, len(payload) / 2, len(payload) - 1} {
			add(fmt.Sprintf("publish %#x cut at %d", uint16(f), cut), frame(f, payload[:min(cut, len(payload))]))
		}
		for i := 0; i < len(payload); i += 3 {
			for _, x := range []byte{0x7F, 0xFF} {
				b := bytes.Clone(payload)
				b[i] ^= x
				add(fmt.Sprintf("publish %#x byte %d ^ %#x", uint16(f), i, x), frame(f, b))
			}
		}
		counted := bytes.Clone(payload)
		binary.BigEndian.PutUint32(counted[len(counted)-4-5-4:], math.MaxUint32)
		add(fmt.Sprintf("publish %#x with 2^32-1 records", uint16(f)), frame(f, counted))
		long := bytes.Clone(payload)
		binary.BigEndian.PutUint32(long[len(long)-5-4:], math.MaxUint32)
		add(fmt.Sprintf("publish %#x with a record of 2^32-1 bytes", uint16(f)), frame(f, long))
		none := bytes.Clone(payload[:len(payload)-9])
		binary.BigEndian.PutUint32(none[len(none)-4:], 0)
		add(fmt.Sprintf("publish %#x without records", uint16(f)), frame(f, none))
		add(fmt.Sprintf("publish %#x with trailing bytes", uint16(f)), frame(f, append(bytes.Clone(payload), "tail"...)))
		for i := 1; i < len(good); i += 7 {
			all = append(all, hostile{name: fmt.Sprintf("publish %#x, connection silent after %d bytes", uint16(f), i), bytes: good[:i], open: true})
		}
	}
	keys := wire.AppendListKeys(nil, &wire.ListKeys{RequestID: 1, Tenant: []byte(tenant), Namespace: []byte("default"), Cache: []byte("c"), Limit: math.MaxUint32})
	for i := range len(keys) - wire.HeaderLen {
		add(fmt.Sprintf("list keys cut at %d", i), frame(wire.FlagExtension, keys[wire.HeaderLen:wire.HeaderLen+i]))
	}
	for kind := range 256 {
		if kind%16 == 0 || kind < 4 {
			add(fmt.Sprintf("extension kind %#x", kind), frame(wire.FlagExtension, []byte{byte(kind), 0, 0, 0, 0, 0, 0, 0, 1}))
		}
	}
	return all
}

// publishFrame is a valid frame of one record of 5 bytes.
func publishFrame(f wire.Flags, tenant string) []byte {
	p := wire.PublishFrame{RequestID: 7, Tenant: tenant, Namespace: "default", Stream: "s", Payloads: [][]byte{[]byte("hello")},
		Keyed: f&wire.FlagPublishKeyed != 0, Key: []byte("k1"), Idempotent: f&wire.FlagPublishIdempotent != 0}
	if f&wire.FlagPublishAcked != 0 {
		p.Ack = wire.AckPerBatch
	}
	return wire.AppendPublish(nil, &p)
}

// tokens is every way a login can be wrong.
func hostileTokens(t *testing.T, n *brokertest.Node) map[string][2]string { // name -> tenant, token
	t.Helper()
	good := n.Token()
	parts := strings.Split(good, ".")
	b64 := base64.RawURLEncoding.EncodeToString
	_, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][2]string{
		"empty":              {n.Tenant, ""},
		"not a token":        {n.Tenant, "abc"},
		"dots":               {n.Tenant, strings.Repeat(".", 60_000)},
		"huge":               {n.Tenant, strings.Repeat("A", 60_000)},
		"no signature":       {n.Tenant, parts[0] + "." + parts[1] + "."},
		"cut":                {n.Tenant, good[:len(good)-8]},
		"alg none":           {n.Tenant, b64([]byte(`{"alg":"none","typ":"JWT"}`)) + "." + parts[1] + "."},
		"alg HS256":          {n.Tenant, b64([]byte(`{"alg":"HS256","typ":"JWT"}`)) + "." + parts[1] + "." + parts[2]},
		"payload swapped":    {n.Tenant, parts[0] + "." + b64([]byte(`{"tid":"`+n.Tenant+`","iss":"felix-auth","aud":"felix-broker","sub":"x","exp":99999999999,"perms":[]}`)) + "." + parts[2]},
		"foreign tenant":     {"someone-else", good},
		"unknown tenant":     {"no-such-tenant", good},
		"key of somebody":    {n.Tenant, foreignSigned(t, private, n.Tenant)},
		"api audience":       {n.Tenant, mint(t, n, api.MintRequest{Principal: "p", Permissions: []string{"stream.publish:stream:" + n.Tenant + "/*/*"}, Audience: api.AudienceControlPlane})},
		"name with NUL":      {n.Tenant + "\x00", good},
		"name with wildcard": {"*", good},
	}
	return out
}

// foreignSigned is a token with every claim right, signed with a key that is not the tenant's.
func foreignSigned(t *testing.T, key ed25519.PrivateKey, tenant string) string {
	t.Helper()
	s, err := token.Sign(key, "somebody", token.Claims{Audience: api.AudienceBroker, Subject: token.Subject("felix", "p"), Tenant: tenant,
		IssuedAt: time.Now(), ExpiresAt: time.Now().Add(time.Hour), Permissions: []string{"stream.publish:stream:" + tenant + "/*/*"}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mint(t *testing.T, n *brokertest.Node, r api.MintRequest) string {
	t.Helper()
	ctx, cancel := n.Timeout()
	defer cancel()
	m, err := n.API.Mint(ctx, n.Tenant, r)
	if err != nil {
		t.Fatal(err)
	}
	return m.FelixToken
}

// TestHostileFrames throws the corpus at the broker, each case before and after a login, and each leaves it as it was: a typed
// answer or a closed stream, a fresh client served at once, every gauge at exactly zero.
func TestHostileFrames(t *testing.T) {
	n := brokertest.Start(t, func(c *broker.Config) { c.Ingress.AnswerStallTimeout = 2 * time.Second })
	n.Stream("s", 2)
	n.Cache("c", 2)
	cases := corpus(n.Tenant)
	if len(cases) < 300 {
		t.Fatalf("only %d hostile cases", len(cases))
	}
	tokens := hostileTokens(t, n)
	t.Logf("%d hostile frames, each before and after login on request streams and on publish-only streams; %d hostile logins",
		len(cases), len(tokens))
	good := n.Auth(n.Token())
	work := make(chan func(r *brokertest.Raw))
	var wg sync.WaitGroup
	for range 8 {
		r := n.Raw(t, nil)
		r.Login(n.Token()).Finish() // so that the connection may use its windows
		wg.Add(1)
		go func() {
			defer wg.Done()
			for f := range work {
				f(r)
			}
		}()
	}
	for _, h := range cases {
		for _, login := range [][]byte{nil, good} {
			work <- func(r *brokertest.Raw) { attack(t, r, h, login) }
			work <- func(r *brokertest.Raw) { attackUni(t, r, h, login) }
		}
	}
	for name, x := range tokens {
		b := wire.AppendAuth(nil, &wire.Auth{Tenant: x[0], Token: x[1], Flags: 0x1FFF, Features: brokertest.Features})
		work <- func(r *brokertest.Raw) {
			answers := attack(t, r, hostile{name: "token: " + name, bytes: b}, nil)
			if len(b)-wire.HeaderLen <= wire.PreauthMaxFramePayload && (len(answers) != 1 || answers[0].Type != wire.MsgError || string(answers[0].CodeName) != "unauthenticated") {
				t.Errorf("token %s: answers %v", name, answers)
			}
		}
	}
	close(work)
	wg.Wait()
	freshClientIsServed(t, n)
	if v := n.Count("felix_broker_publish_worker_restarts_total"); v != 0 {
		t.Errorf("%d handlers panicked", v)
	}
	n.HangupAll()
	n.Quiesce()
}

// attack runs one case on a request stream and returns the JSON answers. The stream must end by itself: the broker either
// finishes it or resets it.
func attack(t *testing.T, r *brokertest.Raw, h hostile, login []byte) (answers []*wire.Message) {
	s := r.Open()
	send := s.Stream.Send()
	if login != nil {
		send.Write(login)
		if f, _, err := s.Frame(); err != nil || f != 0 {
			t.Errorf("%s: login: %v", h.name, err)
			return nil
		}
	}
	send.Write(h.bytes)
	if !h.open {
		send.Close()
	}
	s.Stream.Receive().SetReadDeadline(time.Now().Add(20 * time.Second))
	for {
		f, payload, err := s.Frame()
		if err != nil {
			if errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("%s (login %v): the stream neither answered nor ended", h.name, login != nil)
			}
			send.Reset(transport.StreamCancelled)
			return answers
		}
		if f == 0 {
			m := new(wire.Message)
			if err := wire.ParseMessage(payload, m); err != nil {
				t.Errorf("%s: the broker's answer %q: %v", h.name, payload, err)
			}
			answers = append(answers, m)
		}
	}
}

// attackUni is attack on a publish-only stream, on which nothing ever comes back.
func attackUni(t *testing.T, r *brokertest.Raw, h hostile, login []byte) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	st, err := r.OpenUniStreamSync(ctx)
	if err != nil {
		t.Errorf("%s: %v", h.name, err)
		return
	}
	st.Write(login)
	st.Write(h.bytes)
	if h.open {
		st.Reset(transport.StreamCancelled)
		return
	}
	st.Close()
}

// freshClientIsServed checks that a new client gets all it asks for, within a second.
func freshClientIsServed(t *testing.T, n *brokertest.Node) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	c := dial(t, n)
	defer c.Close()
	sub, err := c.Subscribe(ctx, "s")
	if err != nil {
		t.Fatalf("fresh client: %v", err)
	}
	if _, err := c.Publish(ctx, "s", []byte("still here")); err != nil {
		t.Fatalf("fresh client: %v", err)
	}
	if ev, err := sub.Next(ctx); err != nil || string(ev.Payload) != "still here" {
		t.Fatalf("fresh client: %q %v", ev.Payload, err)
	}
	if err := c.Cache("c").Put(ctx, "k", []byte("v")); err != nil {
		t.Fatalf("fresh client: %v", err)
	}
}

// TestSilentAndCutConnections: connections that never log in, streams that never send, and connections cut at any byte.
func TestSilentAndCutConnections(t *testing.T) {
	n := brokertest.Start(t, func(c *broker.Config) { c.Ingress.AuthTimeout = 1500 * time.Millisecond })
	n.Stream("s", 1)
	n.Cache("c", 1)
	silent := n.Raw(t, nil)
	for range 20 {
		silent.Open().Send([]byte{'F'}) // a first byte and then nothing
	}
	select {
	case <-silent.Done():
	case <-time.After(20 * time.Second):
		t.Fatal("a connection without a login stays open")
	}
	info, ok := transport.Closed(silent.Cause())
	if !ok || info.Code != transport.CloseAuthTimeout || info.Reason != "authentication timeout" {
		t.Errorf("closed with %+v", info)
	}
	token := n.Token()
	whole := append(n.Auth(token), publishFrame(0x0009, n.Tenant)...)
	for cut := 0; cut < len(whole); cut += 11 {
		r := n.Raw(t, nil)
		r.Open().Send(whole[:cut+1])
		r.Hangup()
	}
	freshClientIsServed(t, n)
	n.HangupAll()
	n.Quiesce()
}

// TestPreauthBytesAreBounded: without a login a peer gets 64 KiB read and 64 KiB into the window, whatever it declares and over
// however many streams it spreads it.
func TestPreauthBytesAreBounded(t *testing.T) {
	n := brokertest.Start(t, func(c *broker.Config) { c.Ingress.AuthTimeout = 5 * time.Second })
	before := n.Arena().OutstandingBytes()
	r := n.Raw(t, nil)
	var wg sync.WaitGroup
	var accepted atomic.Int64
	for range 12 {
		st := r.Open().Stream.Send()
		wg.Add(1)
		go func() {
			defer wg.Done()
			st.SetWriteDeadline(time.Now().Add(time.Second))
			for {
				k, err := st.Write(lie(0, 65_000, bytes.Repeat([]byte{' '}, 1000)))
				accepted.Add(int64(k))
				if err != nil {
					return
				}
			}
		}()
	}
	wg.Wait()
	if got := accepted.Load(); got > 160<<10 {
		t.Errorf("an unauthenticated peer got %d bytes through", got)
	}
	if held := n.Arena().OutstandingBytes() - before; held > 192<<10 {
		t.Errorf("an unauthenticated peer makes the broker hold %d bytes", held)
	}
	t.Logf("accepted %d bytes, held %d", accepted.Load(), n.Arena().OutstandingBytes()-before)
	r.Hangup()
	n.Quiesce()
}
