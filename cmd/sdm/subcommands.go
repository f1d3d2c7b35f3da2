// The table of subcommands.

package main

import (
	"fmt"
	"strings"
)

// command is a subcommand: its flags, and what is to be done as they say.
type command interface {
	// flags declares the flags; what is parsed goes into the command.
	flags() *flagSet
	// plan checks what was parsed, before anything is started. An error has the status of wrong usage, unless it has a
	// status of its own (job.Error).
	plan(a *app, f *flagSet) (*plan, error)
}

// subcommand is an entry of the table of subcommands. help, version and completion are none: they have no flags.
type subcommand struct {
	name string
	make func(env []string) command
	// whole permits the use of all processors, for subcommands that compute.
	whole bool
}

// subcommands is the table. It is read only.
var subcommands = []subcommand{
	{name: "run", make: func(env []string) command { return newRunOptions(env) }},
	{name: "attach", make: func(env []string) command { return &attachOptions{options: newOptions(env)} }},
	{name: "stacks", make: newStacks},
	{name: "waits", make: newWaits},
	{name: "why", make: func(env []string) command { return &whyOptions{options: newOptions(env)} }},
	{name: "open", make: func(env []string) command { return &openOptions{options: newOptions(env)} }},
	{name: "diff-files", make: func([]string) command { return &diffOptions{} }},
	{name: "watch", make: func(env []string) command { return &watchOptions{options: newOptions(env)} }},
	{name: "join", make: func(env []string) command { return &joinOptions{options: newOptions(env)} }},
	{name: "sessions", make: func([]string) command { return &sessionsOptions{} }},
	{name: "dap", make: func(env []string) command { return &dapOptions{options: newOptions(env)} }},
	{name: "mcp", make: func(env []string) command { return &mcpOptions{options: newOptions(env)} }},
	{name: "web", make: func(env []string) command { return newWebOptions(env) }},
	{name: "listen", make: func(env []string) command { return &listenOptions{options: newOptions(env)} }},
	{name: "sim", make: func(env []string) command { return &simOptions{options: newOptions(env)} }, whole: true},
	{name: "core", make: func(env []string) command { return &coreOptions{options: newOptions(env)} }},
	{name: "doctor", make: func(env []string) command { return &doctorOptions{} }},
}

// lookup returns the subcommand of a name.
func lookup(name string) (s subcommand, known bool) {
	for _, s := range subcommands {
		if s.name == name {
			return s, true
		}
	}
	return s, false
}

// unknownSubcommand returns the error that there is no such subcommand, with a hint what is meant.
func unknownSubcommand(name string) error {
	if strings.HasPrefix(name, "-") {
		return fmt.Errorf("%s: a subcommand comes first (sdm run %s ...)", name, name)
	}
	names := []string{"help", "version", "completion"}
	for _, s := range subcommands {
		names = append(names, s.name)
	}
	for _, known := range names {
		if strings.HasPrefix(known, name[:min(2, len(name))]) {
			return fmt.Errorf("unknown subcommand %q (did you mean sdm %s?)", name, known)
		}
	}
	return fmt.Errorf("unknown subcommand %q (sdm help lists them; to start a program: sdm run %s)", name, name)
}
