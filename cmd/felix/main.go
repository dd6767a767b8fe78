// felix is the one binary: broker, control plane, both in one process for development, and the client and admin verbs.
package main

import (
	"context"
	"fmt"
	"os"
	"strings"
)

func main() {
	err := newRoot().ExecuteContext(context.Background())
	if err != nil && err != errQuiet {
		fmt.Fprintln(os.Stderr, "felix: "+strings.TrimPrefix(err.Error(), "felix: "))
	}
	os.Exit(exitCode(err))
}
