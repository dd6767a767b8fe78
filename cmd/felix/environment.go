package main

import (
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// variable is the environment variable of a flag.
func variable(flag string) string {
	return "FELIX_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// fromEnvironment sets every flag that was not given from its variable. Flags whose settings come from the knob table are left
// to it.
func fromEnvironment(c *cobra.Command, _ []string) (err error) {
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if err != nil || f.Changed || f.Annotations[knobAnnotation] != nil {
			return
		}
		if v, ok := os.LookupEnv(variable(f.Name)); ok {
			if e := f.Value.Set(v); e != nil {
				err = usage("%s=%q: %w", variable(f.Name), v, e)
			}
			f.Changed = true
		}
	})
	return err
}
