// felix is the one binary: broker, control plane, both in one process for development, and the client and admin verbs.
package main

import (
	"context"
	"fmt"
	"os"
)

func main() {
	err := newRoot().ExecuteContext(context.Background())
	if err != nil && err != errQuiet {
		fmt.Fprintln(os.Stderr, "felix: "+err.Error())
	}
	os.Exit(exitCode(err))
}
