package main

import (
	"strings"
	"testing"
)

func TestUsage(t *testing.T) {
	file := secretFile(t)
	for _, tt := range []struct {
		name string
		args []string
		env  []string
		want string
	}{
		{"nothing", nil, nil, "where is the front end?"},
		{"a word", []string{"--connect", "stdio", "./a"}, nil, `"./a" is no flag`},
		{"an unknown flag", []string{"--conect", "x"}, nil, "unknown flag: --conect"},
		{"no port", []string{"--connect", "login"}, nil, "write HOST:PORT, unix:PATH or stdio"},
		{"no host", []string{"--connect", ":5000"}, nil, "which host"},
		{"a port beyond all", []string{"--connect", "login:99999"}, nil, `--connect login:99999: port "99999" is not a number from 1 to 65535 (write HOST:PORT`},
		{"no port to register at", []string{"--connect", "stdio", "--rendezvous", "login:x"}, nil, `--rendezvous login:x: port "x" is not a number from 0 to 65535`},
		{"too many servers", []string{"--connect", "stdio", "--servers", "99999999999"}, nil, "--servers 99999999999: there are 16777216 at most"},
		{"both ways", []string{"--connect", "stdio", "--listen", "0"}, nil, "give one of them"},
		{"nowhere to listen", []string{"--listen", "a:b:c"}, nil, "--listen a:b:c: write [HOST:]PORT, or unix:PATH"},
		{"two sources", []string{"--connect", "stdio", "--routing-file", "a", "--rendezvous", "b:1"}, nil, "exclude one another"},
		{"all networks unasked", []string{"--connect", "stdio", "--rendezvous", ":5000"}, nil, "0.0.0.0:PORT is all networks"},
		{"hosts without a port", []string{"--connect", "stdio", "--generate-routes", "a,b"}, nil, "--port BASE"},
		{"a strange tree", []string{"--connect", "stdio", "--tree", "oak"}, nil, "--tree: "},
		{"a strange level", []string{"--connect", "stdio", "--log-level", "loud"}, nil, "--log-level"},
		{"a twin that is wrong", []string{"--connect", "stdio"}, []string{"SDM_SERVERS=many"}, "SDM_SERVERS: "},
		{"kept for no time", []string{"--keep", "0"}, nil, "--keep: give a time"},
		{"kept for Eclipse", []string{"--keep", "1h", "--frontend", "ptp", "--connect", "login:1"}, nil, "--keep: front ends of Eclipse PTP"},
		{"a log of nothing", []string{"--connect", "stdio", "--output-log", "a"}, nil, "--output-log goes with --keep"},
		{"no secret file", []string{"--connect", "stdio", "--secret-file", file + "x"}, nil, "secret"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := start(t, tt.env, tt.args...)
			m.exit(exitUsage)
			if text := m.stderr.text(); !strings.Contains(text, tt.want) || strings.Count(text, "\n") != 1 || !strings.HasPrefix(text, "sdm-master: ") {
				t.Errorf("said: %s", text)
			}
		})
	}
}

func TestHelpAndVersion(t *testing.T) {
	for flag, want := range map[string]string{"--help": "--connect-wait", "--version": "protocol 4"} {
		m := start(t, nil, flag)
		m.exit(0)
		if !strings.Contains(m.stderr.text(), want) {
			t.Errorf("%s: %s", flag, m.stderr.text())
		}
	}
}

// TestFlagsBeforeVariables checks that environment variables for another way to the front end are
// ignored if a flag chooses one.
func TestFlagsBeforeVariables(t *testing.T) {
	for _, c := range []struct{ args, env, connect, listen string }{
		{"--connect stdio", "SDM_HOST=login SDM_LISTEN=0", "stdio", ""},
		{"--listen 0", "SDM_HOST=login SDM_CONNECT=login:5000", "", "0"},
		{"--host eclipse --port 5000 --rendezvous h:0", "SDM_CONNECT=login:5000 SDM_LISTEN=0", "eclipse:5000", ""},
		{"", "SDM_CONNECT=login:5000", "login:5000", ""},
	} {
		o, err := parse(strings.Fields("sdm-master "+c.args), strings.Fields(c.env), nil)
		if err != nil || o.connect != c.connect || o.listen != c.listen {
			t.Errorf("%s with %s: connect %q, listen %q, %v", c.args, c.env, o.connect, o.listen, err)
		}
	}
}
