// Commands of PALS and PBS that tell of jobs, and their output.

package pals

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"sdm/protocol"
	"sdm/protocol/rank"
)

// QStat returns the command whose output ReadFirstHost reads.
func QStat(job string) []string { return []string{"qstat", "-f", job} }

// ReadFirstHost returns the first node of a job from the output of qstat -f: lines "NAME = VALUE",
// and lines that begin with a tab and continue them. exec_host is HOST/T*P+HOST/T*P….
func ReadFirstHost(job, text string) (string, error) {
	values := readAttributes(text)
	host, _, found := strings.Cut(values["exec_host"], "/")
	switch {
	case !found && values["comment"] != "":
		return "", fmt.Errorf("job %s has no nodes (state %s): %s", job, protocol.Clip(values["job_state"]), protocol.Clip(values["comment"]))
	case !found:
		return "", fmt.Errorf("job %s has no nodes (state %s)", job, protocol.Clip(values["job_state"]))
	}
	return host, protocol.CheckHost(host)
}

// ReadState returns the state of a job, a letter, and what PBS says of it, from the same output.
func ReadState(text string) (state, comment string) {
	values := readAttributes(text)
	return protocol.Clip(values["job_state"]), protocol.Clip(values["comment"])
}

func readAttributes(text string) map[string]string {
	values := map[string]string{}
	last := ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if more, ok := strings.CutPrefix(line, "\t"); ok {
			values[last] += more
			continue
		}
		name, value, found := strings.Cut(line, " = ")
		if last = strings.TrimSpace(name); found {
			values[last] = strings.TrimSpace(value)
		}
	}
	return values
}

// FirstLine returns the first host of a node file (PBS_NODEFILE).
func FirstLine(text string) (string, error) {
	host, _, _ := strings.Cut(text, "\n")
	host = strings.TrimSpace(host)
	return host, protocol.CheckHost(host)
}

// Stat returns the command whose output ReadApps reads.
func Stat(node string) []string { return []string{"palstat", "-n", node} }

// App is an application, as palstat shows it.
type App struct {
	APID    APID
	Job     string   // of PBS
	State   string   // pending, startup, running; others have ended
	Helpers []string // tool helpers that run
}

// isOver reports whether an application has ended.
func (a App) isOver() bool {
	return a.State != "pending" && a.State != "startup" && a.State != "running"
}

// ReadApps reads blocks of lines "KEY: VALUE"; each begins with APID.
func ReadApps(text string) []App {
	var all []App
	for line := range strings.Lines(text) {
		key, value, found := strings.Cut(line, ":")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		if !found {
			continue
		}
		if key == "APID" {
			if id, err := ParseAPID(value); err == nil {
				all = append(all, App{APID: id})
			}
			continue
		}
		if len(all) == 0 {
			continue
		}
		switch a := &all[len(all)-1]; key {
		case "JobID":
			a.Job = value
		case "State":
			a.State = value
		case "Tool ID":
			a.Helpers = append(a.Helpers, value)
		}
	}
	return all
}

// Choose selects the application of a job among the applications of its first node.
func (j Job) Choose(node string, apps []App) (APID, error) {
	var found []string
	for _, a := range apps {
		if !a.isOver() && isOfJob(a.Job, j.ID) && (j.APID == "" || j.APID == a.APID) {
			found = append(found, string(a.APID))
		}
	}
	switch {
	case len(found) == 1:
		return APID(found[0]), nil
	case len(found) > 1:
		return "", fmt.Errorf("job %s has several applications: %s (give one: pbs:%s:%s)", j.ID, strings.Join(found, ", "), j.ID, found[0])
	}
	return "", fmt.Errorf("palstat shows no application of job %s on %s: %w", j.ID, node, errInvisible)
}

// errInvisible tells why an application may not be shown.
var errInvisible = errors.New("one that has a single node is shown only if it was started with PALS_LOCAL_LAUNCH=0 in the environment of mpiexec; on its node sdm attach PID of mpiexec finds it")

// isOfJob reports whether PALS's name of a job is the job that a user has named, perhaps without
// the server.
func isOfJob(full, id string) bool { return full == id || strings.HasPrefix(full, id+".") }

// Table returns the command whose output ReadTable reads.
func Table(node string, id APID) []string { return []string{"palstat", "-n", node, "-p", string(id)} }

// ReadTable reads a heading, and then HOST PROGRAM PID for each rank, up to an empty line.
func ReadTable(text string) (protocol.Proctable, error) {
	var table protocol.Proctable
	heading := true
	for line := range strings.Lines(text) {
		if heading {
			heading = false
			continue
		}
		fields := strings.Fields(line)
		if len(fields) == 0 {
			break
		}
		if len(table) > int(rank.MaxID) {
			return nil, fmt.Errorf("palstat lists more than %d ranks", len(table))
		}
		pid, err := strconv.ParseInt(fields[len(fields)-1], 10, 32)
		if err != nil || pid <= 0 || len(fields) < 3 || protocol.CheckHost(fields[0]) != nil {
			return nil, fmt.Errorf("palstat: %q is not HOST PROGRAM PID", protocol.Clip(strings.TrimSpace(line)))
		}
		program := strings.Join(fields[1:len(fields)-1], " ")
		table = append(table, protocol.Process{Rank: rank.ID(len(table)), Host: fields[0], PID: int(pid), Program: program})
	}
	return table, nil
}

// ReadVersion reads the output of palstat --version: "palstat version 1.2.3". The numbers that are
// missing are 0.
func ReadVersion(text string) (v [3]int, err error) {
	fields := strings.Fields(text)
	for i := 0; i+1 < len(fields); i++ {
		if fields[i] != "version" {
			continue
		}
		for i, word := range strings.SplitN(fields[i+1], ".", 3) {
			word, _, _ = strings.Cut(word, "-")
			if v[i], err = strconv.Atoi(word); err != nil || v[i] < 0 {
				return v, errors.New("palstat --version does not name a version")
			}
		}
		return v, nil
	}
	return v, errors.New("palstat --version does not name a version")
}
