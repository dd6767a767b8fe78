package cluster

import "errors"

var (
	// errTimeout ends a request that the control plane neither answers nor refuses.
	errTimeout = errors.New("cluster: the control plane did not answer in time")

	// errBadPage is a page of changes that would make its reader go round in circles.
	errBadPage = errors.New("cluster: malformed page of changes")
)
