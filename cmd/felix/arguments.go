package main

import (
	"strings"

	"github.com/spf13/cobra"
)

// checkArguments makes every wrong word on a command line a usage error that names the help to read: a wrong number of
// arguments, an unknown verb, and an unknown word after a group of verbs, where cobra alone prints help and succeeds.
func checkArguments(c *cobra.Command) {
	check := c.Args
	if !c.Runnable() {
		check, c.SuggestionsMinimumDistance = verbOf, 2
		c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
	}
	c.Args = func(c *cobra.Command, args []string) error {
		if err := check(c, args); err != nil {
			return usage("%s: %w; see %s --help", c.CommandPath(), err, c.CommandPath())
		}
		return nil
	}
	for _, sub := range c.Commands() {
		checkArguments(sub)
	}
}

// verbOf refuses a word after a group that is none of its verbs.
func verbOf(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if near := c.SuggestionsFor(args[0]); len(near) > 0 {
		return usage("unknown verb %q, did you mean %s", args[0], strings.Join(near, " or "))
	}
	return usage("unknown verb %q", args[0])
}
