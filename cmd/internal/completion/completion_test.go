package completion

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// commands are some for tests.
func commands() []Command {
	run := pflag.NewFlagSet("", pflag.ContinueOnError)
	run.SortFlags = false
	run.IntP("np", "n", 1, "`number` of ranks")
	run.BoolP("batch", "b", false, "no prompt")
	run.String("format", "", "how")
	run.String("rc", "", "a `file`")
	run.String("hidden", "", "")
	run.MarkHidden("hidden")
	values := func(flag *pflag.Flag, begin string) Answer {
		switch flag.Name {
		case "format":
			return Answer{Kind: Values, Candidates: []Candidate{{"text", ""}, {"ndjson", ""}}}
		case "rc":
			return Answer{Kind: Files}
		}
		return Answer{Kind: Values}
	}
	arguments := func(begin string) Answer {
		return Answer{Kind: Open, Candidates: []Candidate{{"slurm:", "a job"}, {"4711", "mpirun"}, {"4711", "again"}}}
	}
	return []Command{
		{Name: "run", About: "start", Flags: run, Values: values, Runs: true},
		{Name: "attach", About: "take", Flags: run, Values: values, Arguments: arguments},
	}
}

func TestComplete(t *testing.T) {
	for line, want := range map[string]string{
		"":                          "values run attach",
		"a":                         "values attach",
		"no":                        "values",
		"no ":                       "values",
		"run --":                    "values --np --batch --format --rc",
		"run --f":                   "values --format",
		"run -":                     "values --np --batch --format --rc",
		"run -n ":                   "values",
		"run -n 4 ":                 "program 4",
		"run -b mpi":                "program 3",
		"run -n 4 mpirun -":         "program 4",
		"run -b -- ":                "program 4",
		"run --format ":             "values text ndjson",
		"run --format n":            "values ndjson",
		"run --format=t":            "values --format=text",
		"run --format=text x":       "program 3",
		"run --rc ":                 "files",
		"run --rc=":                 "files",
		"run --none=":               "values",
		"attach ":                   "open slurm: 4711",
		"attach 4":                  "open 4711",
		"attach --format text s":    "open slurm:",
		"attach 4711 --format nd":   "values ndjson",
		"attach -- ./prog ":         "program 3",
		"attach --batch slurm:1 --": "values --np --batch --format --rc",
	} {
		a := Complete(commands(), strings.Split(line, " "))
		got := string(a.Kind)
		if a.Kind == Program {
			got += " " + string(rune('0'+a.Program))
		}
		for _, c := range a.Candidates {
			got += " " + c.Text
		}
		if got != want {
			t.Errorf("%q: %s, want %s", line, got, want)
		}
	}
}

// TestQueries checks what is answered to each shell.
func TestQueries(t *testing.T) {
	const breaks = " \t\n\"'@><=;|&(:"
	for _, c := range []struct {
		asked []string
		want  string
	}{
		{[]string{"fish", "att"}, "values\nattach\ttake\n"},
		{[]string{"zsh", "attach", ""}, "open\nslurm\\::a job\n4711:mpirun\n"},
		{[]string{"bash", "sdm att", "7", "1", breaks, "sdm", "att"}, "values\nattach\n"},
		{[]string{"bash", "sdm att xyz", "6", "1", breaks, "sdm", "att", "xyz"}, "values\nattach\n"},
		{[]string{"bash", "sdm attach slur", "15", "2", breaks, "sdm", "attach", "slur"}, "open\nslurm:\n"},
		{[]string{"bash", "sdm attach slurm:", "17", "3", breaks, "sdm", "attach", "slurm", ":"}, "open\n\n"},
		{[]string{"bash", "sdm run --format=nd", "19", "4", breaks, "sdm", "run", "--format", "=", "nd"}, "values\nndjson\n"},
		{[]string{"bash", "sdm run --format=", "17", "3", breaks, "sdm", "run", "--format", "="}, "values\ntext\nndjson\n"},
		{[]string{"bash", "sdm run --format=text mpi", "25", "5", breaks, "sdm", "run", "--format", "=", "text", "mpi"}, "program 5\n"},
		{[]string{"bash", "sdm  run ", "9", "2", breaks, "sdm", "run", ""}, "program 2\n"},
		{[]string{"bash", "sdm ", "4", "1", breaks, "sdm", ""}, "values\nrun\nattach\n"},
	} {
		q, err := Ask(c.asked)
		if err != nil {
			t.Errorf("%q: %v", c.asked, err)
			continue
		}
		var b strings.Builder
		q.Write(&b, Complete(commands(), q.Words))
		if b.String() != c.want {
			t.Errorf("%q: %q, want %q", c.asked, b.String(), c.want)
		}
	}
	for _, asked := range [][]string{{}, {"fish"}, {"ksh", "a"}, {"bash", "sdm", "x", "1", " ", "sdm"}, {"bash", "sdm"}} {
		if _, err := Ask(asked); err == nil {
			t.Errorf("%q: no error", asked)
		}
	}
}

// FuzzAsk checks that no question of bash, however its numbers and words disagree, does more than get an answer.
func FuzzAsk(f *testing.F) {
	f.Add("sdm run --format=te", "19", "4", "= ", "sdm\x00run\x00--format\x00=\x00te")
	f.Add("", "-4", "9999999", "", "")
	f.Fuzz(func(t *testing.T, line, point, current, breaks, words string) {
		q, err := Ask(append([]string{"bash", line, point, current, breaks}, strings.Split(words, "\x00")...))
		if err != nil {
			return
		}
		if len(q.Words) == 0 {
			t.Fatal("there is always a word to complete")
		}
		q.Write(&strings.Builder{}, Complete(commands(), q.Words))
	})
}

func TestHosts(t *testing.T) {
	known := "node1,10.0.0.1 ssh-rsa AAAA\n|1|abc=|def= ssh-rsa AAAA\n[login]:2222 ssh-ed25519 AAAA\n@revoked old ssh-rsa A\n"
	config := "Host a.site *.site !no\n  HostName x\nhost=b\n"
	hosts := "127.0.0.1 localhost\n10.0.0.7 gpu-1 gpu1.site # comment\n::1 ip6-loopback\n"
	want := []string{"a.site", "b", "gpu-1", "gpu1.site", "login", "node1", "old"}
	if got := Hosts(known, config, hosts); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestScripts(t *testing.T) {
	for _, shell := range strings.Split(Shells, ", ") {
		if text, known := Script(shell); !known || !strings.Contains(text, "__complete "+shell) {
			t.Errorf("%s: %q", shell, text)
		}
	}
	if _, known := Script("ksh"); known {
		t.Error("ksh is known")
	}
}
