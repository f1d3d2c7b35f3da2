package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
)

func TestParse(t *testing.T) {
	o, err := parse([]string{"sdm-server", "--rendezvous", "node01:4711", "--linger=2s", "--gdb-arg", "-nx", "--gdb-arg=-q", "--", "./a", "--port", "x"},
		[]string{"SDM_LINGER=9s", "SDM_CONNECT_WAIT=3s", "SDM_PORT=5", "SDM_VERSION=1", "SDM_HOST=", "SDM_OTHER=1"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if o.rendezvous != "node01:4711" || o.linger != 2*time.Second || o.connectWait != 3*time.Second || o.port != 0 ||
		strings.Join(o.gdb.Args, " ") != "-nx -q" || o.server != -1 {
		t.Errorf("%+v", o)
	}
	if j := o.slot(); j == nil || j.Program != "./a" || strings.Join(j.Args, " ") != "--port x" {
		t.Errorf("slot %+v", j)
	}
	o, err = parse([]string{"sdm-server"}, []string{"SDM_PORT=24000", "SDM_SERVER=3"}, nil)
	if err != nil || o.port != 24000 || o.server != 3 || o.slot() != nil {
		t.Errorf("from the environment: %+v, %v", o, err)
	}
}

// TestConnectWaitDefault checks that no server waits without limit, unless it notices the end of
// what it waits for.
func TestConnectWaitDefault(t *testing.T) {
	for _, c := range []struct {
		args                 string
		unattended, attended time.Duration
	}{
		{"--port 4000", 10 * time.Minute, 0},
		{"--rendezvous h:1 --connect-wait 3s", 3 * time.Second, 3 * time.Second},
		{"--port 4000 --connect-wait 0", 0, 0},
	} {
		o, err := parse(strings.Fields("sdm-server "+c.args), nil, nil)
		if err != nil || o.connectWait != c.unattended || o.attended() != c.attended {
			t.Errorf("%s: %v and %v, %v", c.args, o.connectWait, o.attended(), err)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	cases := []struct{ name, args, env, want string }{
		{"no mode", "--server 0", "", "how is the parent to be met?"},
		{"two modes", "--link-fd 3 --port 4000", "", "--link-fd and --port: give only one of them"},
		{"two modes in the environment", "", "SDM_LINK_FD=3 SDM_PORT=4000", "give only one of them"},
		{"listener without a secret", "--listen-fd 3", "", "--listen-fd needs --secret-fd"},
		{"port", "--port 70000", "", "--port 70000 is not from 1 to 65535"},
		{"port zero", "--port 0", "", "--port 0 is not"},
		{"output", "--port 4000 --output file", "", `--output "file": give console or starter`},
		{"linger", "--port 4000 --linger -1s", "", "cannot be negative"},
		{"gdbs ahead", "--port 4000 --gdbs-ahead 65", "", "--gdbs-ahead 65 is not from 0 to 64"},
		{"gdbs ahead in another environment", "--port 4000 --gdbs-ahead 2 --like-ranks", "", "--gdbs-ahead goes without --like-ranks"},
		{"shared gdbs", "--port 4000 --ranks-per-gdb many", "", `--ranks-per-gdb "many": give auto or a number from 1 on`},
		{"no place to meet", "--rendezvous h", "", "--rendezvous h: address h: missing port in address (write HOST:PORT)"},
		{"a place that cannot be", "--rendezvous h:1,h:99999", "", `--rendezvous h:99999: port "99999" is not a number from 1 to 65535`},
		{"two kinds of ranks", "--rendezvous h:1 --jobid 1 --hydra h:2", "", "--attach, --jobid, --hydra and --match: give only one of them"},
		{"a list of nothing", "--list", "", "--list goes with one of --attach, --jobid, --hydra, --match and --listens, and with nothing else"},
		{"a list and a parent", "--list --hydra h:2 --port 4000", "", "and with nothing else"},
		{"ranks and a program", "--rendezvous h:1 --hydra h:2 ./a", "", "--attach, --jobid and --hydra go with --rendezvous, and without a program"},
		{"unknown flag", "--prot 4000", "", "unknown flag: --prot; see sdm-server --help"},
		{"no duration", "--port 4000", "SDM_LINGER=long", "SDM_LINGER: "},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := parse(append([]string{"sdm-server"}, strings.Fields(c.args)...), strings.Fields(c.env), nil)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestHelp(t *testing.T) {
	var out bytes.Buffer
	if _, err := parse([]string{"sdm-server", "--help"}, nil, &out); !errors.Is(err, pflag.ErrHelp) {
		t.Fatal(err)
	}
	for _, want := range append(modes, "-- PROGRAM", "SDM_CONNECT_WAIT", "OMPI_COMM_WORLD_RANK") {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the help does not speak of %s", want)
		}
	}
}

func TestIdentify(t *testing.T) {
	cases := []struct {
		name         string
		o            options
		env          string
		number, size int
		want         string
	}{
		{"flag before the environment", options{server: 3, size: 8}, "PMI_RANK=1 PMI_SIZE=2", 3, 8, ""},
		{"environment", options{server: -1}, "PMI_RANK=1 PMI_SIZE=2", 1, 2, ""},
		{"flag saves a bad environment", options{server: 3}, "PMI_RANK=x", 3, 0, ""},
		{"bad environment", options{server: -1}, "PMI_RANK=x", 0, 0, "PMI_RANK"},
		{"nothing", options{server: -1}, "", 0, 0, "which server is this? give --server I"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			id, err := c.o.identify(strings.Fields(c.env))
			if c.want != "" {
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("got %v, want %q", err, c.want)
				}
				return
			}
			if err != nil || id.Number != c.number || id.Size != c.size {
				t.Errorf("got %+v, %v", id, err)
			}
		})
	}
}
