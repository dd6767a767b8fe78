package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/felix-go/felix/controlplane/token"
)

// keyRecord is a signing key as stored. Seed is the secret; whoever reads the store can sign.
type keyRecord struct {
	Seed      []byte    `json:"seed"`
	Current   bool      `json:"current,omitempty"`
	CreatedAt time.Time `json:"created_at"`
}

func encodeKeys(keys []token.Key) ([]byte, error) {
	records := make([]keyRecord, 0, len(keys))
	for _, k := range keys {
		records = append(records, keyRecord{
			Seed:      k.Private.Seed(),
			Current:   k.Current,
			CreatedAt: k.CreatedAt.UTC(),
		})
	}
	b, err := json.Marshal(records)
	if err != nil {
		return nil, fmt.Errorf("cannot encode signing keys: %w", err)
	}
	return b, nil
}

// SigningKeys returns every published key of a tenant, the current one among them, or ErrNotFound.
func (s *Store) SigningKeys(ctx context.Context, tenant string) ([]token.Key, error) {
	resp, err := s.etcd.get(ctx, s.keys.keys(tenant))
	if err != nil {
		return nil, err
	}
	if len(resp.Kvs) == 0 {
		return nil, s.Tenants.notFound(tenant)
	}
	var records []keyRecord
	if err := json.Unmarshal(resp.Kvs[0].Value, &records); err != nil {
		return nil, fmt.Errorf("%w: signing keys of tenant %q", ErrCorrupt, tenant)
	}
	keys := make([]token.Key, 0, len(records))
	for _, r := range records {
		k, err := token.ParseKey(r.Seed, r.Current, r.CreatedAt)
		if err != nil {
			return nil, fmt.Errorf("%w: signing keys of tenant %q: %w", ErrCorrupt, tenant, err)
		}
		keys = append(keys, k)
	}
	return keys, nil
}
