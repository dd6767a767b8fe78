package server

// class groups routes by what they cost and who calls them.
type class string

const (
	classCatalog class = "catalog"
	classFeed    class = "feed"
	classToken   class = "token"
	classKeys    class = "keys"
	classProbe   class = "probe"
	classUnknown class = "unknown"
)

// public reports whether the route answers without a credential.
func (c class) public() bool { return c == classKeys || c == classProbe }

const (
	tenantPath    = "/v1/tenants/{tenant}"
	namespacePath = tenantPath + "/namespaces/{namespace}"
	streamPath    = namespacePath + "/streams/{stream}"
	cachePath     = namespacePath + "/caches/{cache}"
)

// routes registers every endpoint.
func (h *Handler) routes() {
	s := h.cfg.Store

	h.handle(classCatalog, "GET /v1/tenants", listing(s.Tenants, nil))
	h.handle(classCatalog, "POST /v1/tenants", h.createTenant)
	h.handle(classCatalog, "GET "+tenantPath, finding(s.Tenants, "tenant"))
	h.handle(classCatalog, "DELETE "+tenantPath, h.deleteTenant)

	h.handle(classCatalog, "GET "+tenantPath+"/namespaces", listing(s.Namespaces, s.Tenants, "tenant"))
	h.handle(classCatalog, "POST "+tenantPath+"/namespaces", h.createNamespace)
	h.handle(classCatalog, "GET "+namespacePath, finding(s.Namespaces, "tenant", "namespace"))
	h.handle(classCatalog, "DELETE "+namespacePath, h.deleteNamespace)

	h.handle(classCatalog, "GET "+namespacePath+"/streams",
		listing(s.Streams, s.Namespaces, "tenant", "namespace"))
	h.handle(classCatalog, "POST "+namespacePath+"/streams", h.createStream)
	h.handle(classCatalog, "GET "+streamPath,
		finding(s.Streams, "tenant", "namespace", "stream"))
	h.handle(classCatalog, "PATCH "+streamPath, h.patchStream)
	h.handle(classCatalog, "DELETE "+streamPath, h.deleteStream)

	h.handle(classCatalog, "GET "+namespacePath+"/caches",
		listing(s.Caches, s.Namespaces, "tenant", "namespace"))
	h.handle(classCatalog, "POST "+namespacePath+"/caches", h.createCache)
	h.handle(classCatalog, "GET "+cachePath, finding(s.Caches, "tenant", "namespace", "cache"))
	h.handle(classCatalog, "PATCH "+cachePath, h.patchCache)
	h.handle(classCatalog, "DELETE "+cachePath, h.deleteCache)

	feed(h, "tenants", s.Tenants)
	feed(h, "namespaces", s.Namespaces)
	feed(h, "streams", s.Streams)
	feed(h, "caches", s.Caches)

	h.handle(classKeys, "GET "+tenantPath+"/.well-known/jwks.json", h.jwks)
	h.handle(classToken, "POST "+tenantPath+"/token/mint", h.mint)

	h.handle(classProbe, "GET /v1/system/live", h.live)
	h.handle(classProbe, "GET /v1/system/ready", h.ready)
	h.handle(classProbe, "GET /v1/system/health", h.ready)

	h.handle(classUnknown, "/", h.unknown)
}
