package auth

// Action is something a permission allows, control plane section 5.1. The zero Action is none.
type Action uint8

// The actions. Publish, subscribe, read, write and consume are data; the manage, view and delegate actions
// are asked for by the control plane's API, and their implications reach the data plane (see Compile).
const (
	StreamPublish        Action = iota + 1 // stream.publish
	StreamSubscribe                        // stream.subscribe; implies group.consume
	StreamManage                           // stream.manage; implies group.manage
	CacheRead                              // cache.read: get, watch, counter get
	CacheWrite                             // cache.write: put, delete, conditions, counter add
	CacheManage                            // cache.manage
	GroupConsume                           // group.consume: poll, ack, nack, extend
	GroupManage                            // group.manage: seek, create, delete, redrive, discard
	NamespaceManage                        // ns.manage; implies every stream, cache and group action inside
	TenantManage                           // tenant.manage; on a tenant implies ns.manage of every namespace
	NodeView                               // node.view
	NodeManage                             // node.manage
	RBACView                               // rbac.view
	RBACPolicyManage                       // rbac.policy.manage
	RBACAssignmentManage                   // rbac.assignment.manage
	TokenDelegate                          // token.delegate
	actionCount
)

// vocabulary is the table of section 5.1: each action's name and the kinds of object it may be granted on.
var vocabulary = [actionCount]struct {
	name string
	on   objectKind
}{
	StreamPublish:        {"stream.publish", onStream},
	StreamSubscribe:      {"stream.subscribe", onStream},
	StreamManage:         {"stream.manage", onStream},
	CacheRead:            {"cache.read", onCache | onKey | onPrefix},
	CacheWrite:           {"cache.write", onCache | onKey | onPrefix},
	CacheManage:          {"cache.manage", onCache},
	GroupConsume:         {"group.consume", onStream | onGroup},
	GroupManage:          {"group.manage", onStream | onGroup},
	NamespaceManage:      {"ns.manage", onNamespace},
	TenantManage:         {"tenant.manage", onTenant | onCluster},
	NodeView:             {"node.view", onCluster},
	NodeManage:           {"node.manage", onNode | onCluster},
	RBACView:             {"rbac.view", onTenant | onNamespace | onStream | onCache | onGroup},
	RBACPolicyManage:     {"rbac.policy.manage", onTenant | onNamespace | onStream | onCache | onGroup},
	RBACAssignmentManage: {"rbac.assignment.manage", onTenant | onNamespace | onStream | onCache | onGroup},
	TokenDelegate:        {"token.delegate", onTenant},
}

var actionByName = func() map[string]Action {
	m := make(map[string]Action, actionCount)
	for a := StreamPublish; a < actionCount; a++ {
		m[vocabulary[a].name] = a
	}
	return m
}()

// ParseAction returns the action with this name, such as "stream.publish".
func ParseAction(name string) (Action, bool) {
	a, ok := actionByName[name]
	return a, ok
}

// String returns the name of the action as permissions write it.
func (a Action) String() string {
	if a == 0 || a >= actionCount {
		return "none"
	}
	return vocabulary[a].name
}

// actionSet is a set of actions, one bit each.
type actionSet uint32

func setOf(actions ...Action) actionSet {
	var s actionSet
	for _, a := range actions {
		s |= 1 << a
	}
	return s
}

func (s actionSet) has(a Action) bool { return s>>(a&31)&1 != 0 }

var (
	streamActions = setOf(StreamPublish, StreamSubscribe, StreamManage)
	cacheActions  = setOf(CacheRead, CacheWrite, CacheManage)
	groupActions  = setOf(GroupConsume, GroupManage)
	rbacActions   = setOf(RBACView, RBACPolicyManage, RBACAssignmentManage)
)
