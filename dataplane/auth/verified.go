package auth

import (
	"container/list"
	"crypto/sha256"
	"sync"
)

// verified remembers the tokens that passed, at most max of them, least recently used out first. Tokens that
// failed are not remembered: whoever sends them could then choose what is.
type verified struct {
	max int

	mu     sync.Mutex // guards the following; held for a lookup only
	tokens map[[sha256.Size]byte]*list.Element
	order  *list.List // of *verifiedToken, most recently used first
}

type verifiedToken struct {
	sum [sha256.Size]byte
	id  *Identity
	set *keySet // what the token was verified with
}

func newVerified(limit int) *verified {
	return &verified{max: limit, tokens: make(map[[sha256.Size]byte]*list.Element), order: list.New()}
}

func (v *verified) find(sum [sha256.Size]byte) (*Identity, *keySet) {
	v.mu.Lock()
	defer v.mu.Unlock()
	e := v.tokens[sum]
	if e == nil {
		return nil, nil
	}
	v.order.MoveToFront(e)
	t := e.Value.(*verifiedToken)
	return t.id, t.set
}

func (v *verified) add(sum [sha256.Size]byte, id *Identity, set *keySet) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if e := v.tokens[sum]; e != nil {
		e.Value = &verifiedToken{sum: sum, id: id, set: set}
		v.order.MoveToFront(e)
		return
	}
	if v.order.Len() >= v.max {
		v.remove(v.order.Back())
	}
	v.tokens[sum] = v.order.PushFront(&verifiedToken{sum: sum, id: id, set: set})
}

func (v *verified) drop(sum [sha256.Size]byte) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if e := v.tokens[sum]; e != nil {
		v.remove(e)
	}
}

func (v *verified) remove(e *list.Element) {
	v.order.Remove(e)
	delete(v.tokens, e.Value.(*verifiedToken).sum)
}
