package route

import (
	"testing"

	"github.com/felix-go/felix/dataplane/catalog"
	"github.com/felix-go/felix/dataplane/wire"
)

func TestEveryExistingShardIsLocal(t *testing.T) {
	r := New()
	s, c := &catalog.Stream{Shards: 3}, &catalog.Cache{Shards: 3}
	for shard := range wire.ShardID(3) {
		for _, d := range []Decision{r.Stream(s, shard), r.Cache(c, shard)} {
			if !d.Local || d.Refusal != nil || d.Node != "" || d.Generation != firstGeneration {
				t.Errorf("shard %d: %+v", shard, d)
			}
		}
	}
	for _, shard := range []wire.ShardID{3, 4, 1<<32 - 1} {
		for _, d := range []Decision{r.Stream(s, shard), r.Cache(c, shard)} {
			if d.Local || d.Refusal != refuseShard || d.Node != "" {
				t.Errorf("shard %d: %+v", shard, d)
			}
		}
	}
}

func TestOwners(t *testing.T) {
	r := New()
	for _, all := range [][]wire.ShardOwner{
		r.StreamOwners(&catalog.Stream{Shards: 3}), r.CacheOwners(&catalog.Cache{Shards: 3}),
	} {
		if len(all) != 3 {
			t.Fatalf("%d owners, want 3", len(all))
		}
		for i, o := range all {
			if o != (wire.ShardOwner{Shard: wire.ShardID(i), Generation: firstGeneration}) {
				t.Errorf("owner %d is %+v", i, o)
			}
		}
	}
}
