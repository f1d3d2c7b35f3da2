package original_test

import (
	"slices"
	"strings"
	"testing"

	"sdm/cmd/internal/original"
)

func TestIs(t *testing.T) {
	for line, want := range map[string]bool{
		"--master --host=h --port=1": true, "--host=h --port=1 --debugger=gdb-mi --server=0": true, "-master --host=h": true,
		"--routing_file=r": true, "": false, "run --master": false, "--help": false, "--version": false, "-n 4 ./a": false,
	} {
		if got := original.Is(strings.Fields(line)); got != want {
			t.Errorf("%s: %v", line, got)
		}
	}
}

// The lines that Eclipse PTP and its scripts write.
func TestMaster(t *testing.T) {
	for line, want := range map[string]string{
		"--port=4711 --host=front --debugger=gdb-mi --master --routing_file=/home/u/routes_7": "--frontend ptp --quiet --routing-file /home/u/routes_7 --connect-wait 1000s --connect front:4711 --log-level error",
		"--master --host front --debugger_path=/opt/gdb --debug=127":                          "--frontend ptp --quiet --routing-file routing_file --connect-wait 1000s --connect front:12345 --log-level debug",
		"--master --debug stray":       "--frontend ptp --quiet --routing-file routing_file --connect-wait 1000s --listen 127.0.0.1:12345 --log-level debug",
		"--master --host=::1 --port=9": "--frontend ptp --quiet --routing-file routing_file --connect-wait 1000s --connect [::1]:9 --log-level error",
	} {
		l, err := original.Parse(strings.Fields(line))
		if err != nil || !l.Master {
			t.Fatal(line, l, err)
		}
		if got := strings.Join(l.MasterArgs(), " "); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", line, got, want)
		}
	}
}

func TestServer(t *testing.T) {
	for _, c := range []struct {
		line, env, want, err string
	}{
		{"--host=front --port=4711 --server=1 --debugger_path=/opt/gdb", "", "--routing-file routing_file --per-node --connect-wait 1000s --server 1 --gdb /opt/gdb --log-level error", ""},
		{"--host=front --port=4711 --server=1", "PMI_RANK=0 SLURM_PROCID=1", "--routing-file routing_file --per-node --connect-wait 1000s --log-level error", ""},
		{"--host=front --routing_file=/r", "OMPI_COMM_WORLD_RANK=1", "--routing-file /r --per-node --connect-wait 1000s --log-level error", ""},
		{"--host=front", "", "", "give --server=N"},
		{"--host=front", "PMI_RANK=x", "", "PMI_RANK=x is no number"},
	} {
		l, err := original.Parse(strings.Fields(c.line))
		if err != nil {
			t.Fatal(err)
		}
		args, err := l.ServerArgs(strings.Fields(c.env))
		if got := strings.Join(args, " "); got != c.want || (err != nil) != (c.err != "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s with %s: %s, %v; want %s %s", c.line, c.env, got, err, c.want, c.err)
		}
	}
}

func TestRefusals(t *testing.T) {
	for line, want := range map[string]string{
		"--master --nonsense": "unknown flag", "-master": "unknown shorthand", "--debugger=x10-gdb-mi": "gdb-mi only", "--proxy=stdio": "tcp only",
		"--port=70000": "from 1 to 65535", "--server=-1": "from 0",
	} {
		if _, err := original.Parse(strings.Fields(line)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", line, err, want)
		}
	}
}

func TestRoutes(t *testing.T) {
	l, err := original.Parse([]string{"--master", "--generate_routes=a,b"})
	if err != nil {
		t.Fatal(err)
	}
	table, err := l.Routes()
	hosts := []string{}
	for _, r := range table.Routes {
		hosts = append(hosts, r.Host)
	}
	if err != nil || table.Size != 2 || !slices.Equal(hosts, []string{"a", "b"}) {
		t.Error(table, err)
	}
}
