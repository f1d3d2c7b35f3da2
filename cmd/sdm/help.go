// sdm help and sdm version.

package main

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"sdm/cmd/internal/doctor"
	"sdm/cmd/internal/startup"
	"sdm/master/frontend/console"
	"sdm/master/language"
	"sdm/protocol"
)

// help shows help about sdm, a subcommand, or a command of the prompt.
func (a *app) help(args []string) console.Status {
	if len(args) > 0 && args[0] == "--man" {
		return a.man(args[1:])
	}
	topic := strings.Join(args, " ")
	name, all := strings.CutSuffix(topic, " all")
	switch s, known := lookup(name); {
	case slices.Contains([]string{"", "-h", "--help", "version"}, topic):
		fmt.Fprint(a.out, usage)
	case known && all:
		f := s.make(a.env).flags()
		fmt.Fprint(a.out, f.help(f.usages()))
	case known:
		f := s.make(a.env).flags()
		fmt.Fprint(a.out, f.help(f.brief()))
	case topic == "ways":
		fmt.Fprint(a.out, helpWays())
	default:
		if topic == "commands" {
			topic = ""
		}
		text, err := language.HelpText(topic)
		if err != nil {
			return a.fail(console.StatusUsage, fmt.Errorf("no help about %q (sdm help lists the topics)", topic))
		}
		fmt.Fprint(a.out, text)
	}
	return console.StatusGood
}

// version shows the version, for bug reports; with --all also which gdb and which launchers are found.
func (a *app) version(args []string) console.Status {
	all := len(args) == 1 && args[0] == "--all"
	switch {
	case len(args) == 0 || all:
	case args[0] == "-h", args[0] == "--help":
		return a.help(nil)
	default:
		return a.fail(console.StatusUsage, fmt.Errorf("sdm version takes no argument but --all, not %q", args[0]))
	}
	fmt.Fprintf(a.out, "sdm %s, protocol %d, %s %s/%s\n", startup.Build(), protocol.PacketVersion, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	if !all {
		return console.StatusGood
	}
	l := newLifetime(maxVersions)
	defer l.stop()
	for _, f := range (doctor.Machine{Env: a.env}).Programs(l.ctx) {
		if f.Grade != doctor.Absent {
			fmt.Fprintf(a.out, "%s: %s\n", f.Check, f.Found)
		}
	}
	return console.StatusGood
}

// maxVersions bounds the time in which programs are asked for their versions.
const maxVersions = 5 * time.Second
