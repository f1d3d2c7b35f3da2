// Completion of command lines by shells: what subcommands, flags and arguments may be.

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"sdm/cmd/internal/completion"
	"sdm/cmd/internal/job"
	"sdm/cmd/internal/servers"
	"sdm/cmd/internal/sessions"
	"sdm/master/frontend/console"
	"sdm/master/language"
)

// completeSubcommand is what the scripts of shells call. It is in no help.
const completeSubcommand = "__complete"

// completion prints what a shell reads to complete command lines of sdm.
func (a *app) completion(args []string) console.Status {
	if len(args) == 1 {
		if script, known := completion.Script(args[0]); known {
			io.WriteString(a.out, script)
			return console.StatusGood
		}
		if args[0] == "-h" || args[0] == "--help" {
			return a.help([]string{"completion"})
		}
	}
	return a.fail(console.StatusUsage, fmt.Errorf("sdm completion prints a script for one shell: %s", completion.Shells))
}

// complete answers the script of a shell.
func (a *app) complete(args []string) console.Status {
	q, err := completion.Ask(args)
	if err != nil {
		return a.fail(console.StatusUsage, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), maxCompletion)
	defer cancel()
	q.Write(a.out, completion.Complete(a.completions(ctx), q.Words))
	return console.StatusGood
}

// maxCompletion is how long sessions, jobs and names of hosts are waited for. Who presses Tab should not wait.
const maxCompletion = 150 * time.Millisecond

// completions returns all subcommands for completion.
func (a *app) completions(ctx context.Context) []completion.Command {
	abouts := briefs()
	var all []completion.Command
	for _, s := range subcommands {
		all = append(all, completion.Command{
			Name: s.name, About: abouts[s.name], Flags: s.make(a.env).flags().FlagSet, Runs: s.name == "run",
			Values:    valuesOf,
			Arguments: func(begin string) completion.Answer { return argumentsOf(ctx, s.name, begin) },
		})
	}
	none := pflag.NewFlagSet("", pflag.ContinueOnError)
	words := func(words ...string) func(string) completion.Answer {
		return func(string) completion.Answer { return offer(completion.Values, words...) }
	}
	topics := []string{"ways", "commands", "sets"}
	for _, s := range subcommands {
		topics = append(topics, s.name)
	}
	for _, w := range language.Words() {
		if !strings.Contains(w.Name, " ") {
			topics = append(topics, w.Name)
		}
	}
	return append(all,
		completion.Command{Name: "help", About: "what a subcommand or a command of the prompt does", Flags: none, Arguments: words(topics...)},
		completion.Command{Name: "version", About: abouts["version"], Flags: none},
		completion.Command{Name: "completion", About: abouts["completion"], Flags: none, Arguments: words("bash", "zsh", "fish")})
}

// briefs returns what each subcommand does, from its first line in help.
func briefs() map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(usage) {
		rest, isRow := strings.CutPrefix(line, "  sdm ")
		name, rest, _ := strings.Cut(strings.TrimSpace(rest), " ")
		if i := strings.LastIndex(rest, "  "); isRow && all[name] == "" && i >= 0 {
			all[name] = strings.TrimSpace(rest[i:])
		}
	}
	return all
}

func offer(kind completion.Kind, words ...string) completion.Answer {
	answer := completion.Answer{Kind: kind}
	for _, word := range words {
		answer.Candidates = append(answer.Candidates, completion.Candidate{Text: word})
	}
	return answer
}

// flagValues are the values of flags that have few, or some with a name. It is read only.
var flagValues = map[string][]string{
	"allow":         {"look", "steer", "change"},
	"by":            {"function", "line", "address"},
	"color":         {"auto", "always", "never"},
	"engine":        {engineProbe, "gdb"},
	"format":        {string(console.Text), string(console.NDJSON)},
	"index-cache":   {"auto", "off"},
	"launcher":      {"local", "slurm", "pmix", "mpir", "slot", "mpirun", "mpiexec", "srun"},
	"log-level":     {"debug", "info", "warn", "error"},
	"on-stall":      {"stacks", "report", "kill"},
	"output":        {servers.OutputConsole, servers.OutputStarter},
	"pmix-indirect": {indirectFork, indirectSpawn},
	"pmix-stop":     {"init", "app", "exec"},
	"ranks-per-gdb": {"auto"},
	"stdin":         {"none", "all"},
	"stop-at":       {"main", "entry", "none"},
	"tree":          {"binomial", "flat"},
	"when-lost":     {"kill", "detach"},
}

// valuesOf tells what the value of a flag may be: what its help calls it says what kind of thing it is.
func valuesOf(flag *pflag.Flag, begin string) completion.Answer {
	if values := flagValues[flag.Name]; values != nil {
		return offer(completion.Values, values...)
	}
	switch name, _ := pflag.UnquoteUsage(flag); name {
	case "file", "path", "command":
		return offer(completion.Files)
	case "directory", "DIR":
		return offer(completion.Directories)
	case "host":
		return offer(completion.Values, localHosts()...)
	case "HOST,HOST...", "list":
		listed := begin[:strings.LastIndex(begin, ",")+1]
		answer := offer(completion.Open)
		for _, host := range localHosts() {
			answer.Candidates = append(answer.Candidates, completion.Candidate{Text: listed + host})
		}
		return answer
	}
	return completion.Answer{Kind: completion.Values}
}

// maxHostsFile bounds what is read of a file with names of hosts, in bytes.
const maxHostsFile = 1 << 20

// localHosts returns the hosts that files of this host name. Nobody is asked.
func localHosts() []string {
	read := func(path string) string {
		f, err := os.Open(path)
		if err != nil {
			return ""
		}
		defer f.Close()
		text, _ := io.ReadAll(io.LimitReader(f, maxHostsFile))
		return string(text)
	}
	var known, config string
	if home, err := os.UserHomeDir(); err == nil {
		known, config = read(filepath.Join(home, ".ssh", "known_hosts")), read(filepath.Join(home, ".ssh", "config"))
	}
	return completion.Hosts(known, config, read("/etc/hosts"))
}

// argumentsOf tells what an argument of a subcommand may be.
func argumentsOf(ctx context.Context, subcommand, begin string) completion.Answer {
	answer := completion.Answer{Kind: completion.Values}
	switch subcommand {
	case "attach", "stacks", "waits", "watch":
		return targets(ctx, begin)
	case "why":
		answer = targets(ctx, begin)
		answer.Kind = completion.Files
		answer.Candidates = append(answer.Candidates, liveSessions(ctx)...)
	case "web":
		answer = completion.Answer{Kind: completion.Files, Candidates: liveSessions(ctx)}
	case "join":
		answer.Candidates = liveSessions(ctx)
	case "open", "diff-files", "core":
		answer.Kind = completion.Files
	case "doctor":
		answer = offer(completion.Values, localHosts()...)
	}
	return answer
}

// targets offers the jobs of this user on this host, or where a letter begins the word how other jobs are named.
func targets(ctx context.Context, begin string) completion.Answer {
	if begin != "" && (begin[0] < '0' || begin[0] > '9') {
		return offer(completion.Open, "slurm:", "flux:", "pbs:", "pals:", "pmix:", "torchrun:", "nccl:", "pids:", "hostfile:", "job:")
	}
	answer := completion.Answer{Kind: completion.Values}
	jobs, _ := job.List(ctx)
	for _, j := range jobs {
		answer.Candidates = append(answer.Candidates, completion.Candidate{Text: j.Target, About: j.Program + ", " + j.Ranks})
	}
	return answer
}

// liveSessions offers the sessions of this user.
func liveSessions(ctx context.Context) (all []completion.Candidate) {
	found, _ := sessions.Look(ctx)
	for _, f := range found {
		if f.Liveness != sessions.Gone {
			all = append(all, completion.Candidate{Text: f.State.ID, About: f.State.Program + " on " + f.State.Host})
		}
	}
	return all
}
