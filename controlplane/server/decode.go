package server

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/felix-go/felix/controlplane/api"
	"github.com/felix-go/felix/dataplane/auth"
)

// maxBodyBytes bounds a request body.
const maxBodyBytes = 1 << 20

// given is the fields that a body spells out, which a struct cannot tell from absent ones.
type given map[string]json.RawMessage

// has reports whether the body spells the field out, null not counted.
func (g given) has(field string) bool {
	v, ok := g[field]
	return ok && string(v) != "null"
}

// inside returns the fields of an object inside the body.
func (g given) inside(field string) given {
	var in given
	if json.Unmarshal(g[field], &in) != nil {
		return nil
	}
	return in
}

// decode reads the JSON object of an administrator into v. It refuses fields that v does not have, by
// name, so that a typing error cannot pass for success; fixed are those that exist but cannot change.
func decode(r *http.Request, v any, fixed ...string) (given, error) {
	b, err := io.ReadAll(r.Body)
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, refuse(http.StatusRequestEntityTooLarge, api.CodePayloadTooLarge,
			"the body is larger than %d bytes", maxBodyBytes)
	case err != nil:
		return nil, invalid("cannot read the body")
	}
	var g given
	if json.Unmarshal(b, &g) != nil || g == nil {
		return nil, invalid("the body must be one JSON object")
	}
	for field := range g {
		if slices.Contains(fixed, field) {
			return nil, invalid("field %q is fixed at creation", field)
		}
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		return nil, invalid("%s", decodeFault(err))
	}
	return g, nil
}

// decodeFault words a decoding error for a client, without names of Go types.
func decodeFault(err error) string {
	var wrongType *json.UnmarshalTypeError
	if errors.As(err, &wrongType) {
		return "field " + strconv.Quote(wrongType.Field) + " has a wrong type or is out of range"
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}

// Bounds of a listing page (rule P9).
const (
	defaultPage = 1000
	maxPage     = 10_000
)

// pageOf reads the paging parameters of a listing.
func pageOf(r *http.Request) (after string, limit int, err error) {
	q := r.URL.Query()
	limit = defaultPage
	if q.Has("limit") {
		limit, err = strconv.Atoi(q.Get("limit"))
		if err != nil || limit < 1 || limit > maxPage {
			return "", 0, invalid("limit must be a number from 1 to %d", maxPage)
		}
	}
	if q.Has("cursor") {
		if after, err = decodeCursor(q.Get("cursor")); err != nil {
			return "", 0, err
		}
	}
	return after, limit, nil
}

// A cursor is the name of the last object of a page. It is wrapped so that nobody builds on it.
func encodeCursor(name string) string { return base64.RawURLEncoding.EncodeToString([]byte(name)) }

func decodeCursor(s string) (string, error) {
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil || !auth.ValidName(string(b)) {
		return "", invalid("cursor is not one of this listing")
	}
	return string(b), nil
}

// uintParam reads a whole number from the query, 0 when it is absent.
func uintParam(q url.Values, name string) (uint64, error) {
	if !q.Has(name) {
		return 0, nil
	}
	n, err := strconv.ParseUint(q.Get(name), 10, 64)
	if err != nil {
		return 0, invalid("%s must be a whole number", name)
	}
	return n, nil
}
