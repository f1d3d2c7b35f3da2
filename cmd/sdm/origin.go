// What has started a job, for hang files.

package main

import (
	"os"
	"slices"
	"strings"

	"sdm/cmd/internal/job"
	"sdm/cmd/internal/servers"
	"sdm/master/hangfile"
)

// startedHere returns what a hang file tells of a command line that was started on this host, in this directory.
func startedHere(line []string) hangfile.Job {
	cwd, _ := os.Getwd() // "" if it is not known
	return hangfile.Job{Command: line, Host: servers.HostName(), Cwd: cwd}
}

// launcherOf returns the name of what has started ranks; "": it is not known. target is the argument of sdm attach, and
// line the command line of its process.
func launcherOf(target string, line []string) string {
	kind, _, named := strings.Cut(target, ":")
	if named && !slices.Contains([]string{"pids", "hostfile", "match", "job"}, kind) {
		return kind
	}
	if len(line) == 0 {
		return ""
	}
	if name := job.StarterName(line[0]); slices.Contains(job.Starters, name) {
		return name
	}
	return ""
}

// lineOf returns the command line of a process; nil: there is none.
func lineOf(pid string) []string {
	line, err := os.ReadFile("/proc/" + pid + "/cmdline")
	if err != nil || len(line) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00")
}
