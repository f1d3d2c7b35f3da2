// Package startup contains what every program of sdm does first: it reads flags from the
// environment, opens the log, tells its version, and limits the use of processors.
package startup

import "runtime/debug"

// version is set by the Makefile (-ldflags -X). A plain go build leaves it empty.
var version string

// Date is the day of the commit that was built, as 2026-11-29, set by the Makefile; "" in a plain go build.
var Date string

// Build returns the name of this build, which users compare between hosts.
func Build() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	text := info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			text += " " + s.Value
		}
	}
	return text
}
