package brokertest_test

import (
	"testing"

	"github.com/felix-go/felix/dataplane/brokertest"
)

func TestMain(m *testing.M) { brokertest.Main(m) }
