package startup

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/spf13/pflag"
)

func TestFromEnvironment(t *testing.T) {
	for _, c := range []struct {
		name, line, env    string
		wait               time.Duration
		port, meet, failed string
	}{
		{"twin", "", "SDM_CONNECT_WAIT=3s", 3 * time.Second, "", "", ""},
		{"line first", "--connect-wait=5s", "SDM_CONNECT_WAIT=3s", 5 * time.Second, "", "", ""},
		{"empty is unset", "", "SDM_CONNECT_WAIT=", 0, "", "", ""},
		{"bad", "", "SDM_CONNECT_WAIT=soon", 0, "", "", `SDM_CONNECT_WAIT: invalid argument "soon" for "--connect-wait" flag: time: invalid duration "soon"`},
		{"another's", "", "CONNECT_WAIT=3s", 0, "", "", ""},
		{"version is asked for by hand", "", "SDM_VERSION=true", 0, "", "", ""},
		{"exclusive by environment", "", "SDM_PORT=1", 0, "1", "", ""},
		{"exclusive by line", "--meet=h", "SDM_PORT=1", 0, "", "h", ""},
		{"exclusive in a second group", "--meet=h", "SDM_CONNECT_WAIT=3s", 0, "", "h", ""},
		{"of another group", "--connect-wait=3s", "SDM_PORT=1", 3 * time.Second, "1", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := pflag.NewFlagSet("x", pflag.ContinueOnError)
			wait := f.Duration("connect-wait", 0, "")
			port, meet := f.String("port", "", ""), f.String("meet", "", "")
			version := f.Bool("version", false, "")
			var args []string
			if c.line != "" {
				args = []string{c.line}
			}
			if err := f.Parse(args); err != nil {
				t.Fatal(err)
			}
			err := FromEnvironment(f, []string{c.env}, []string{"port", "meet"}, []string{"meet", "connect-wait"})
			if got := errorText(err); got != c.failed {
				t.Fatalf("error %q, want %q", got, c.failed)
			}
			if *wait != c.wait || *port != c.port || *meet != c.meet || *version {
				t.Errorf("wait %v, port %q, meet %q, version %v", *wait, *port, *meet, *version)
			}
		})
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	for _, level := range []string{"info", "error"} { // the second one appends
		l := Log{File: path, Level: level}
		log, file, err := l.Open(os.Stderr)
		if err != nil {
			t.Fatal(err)
		}
		log.Info("told")
		file.Close()
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(got, []byte("told")); n != 1 {
		t.Errorf("%d lines: %s", n, got)
	}
	for _, bad := range []struct {
		log  Log
		want string
	}{
		{Log{Level: "loud"}, `--log-level "loud": give debug, info, warn or error`},
		{Log{Level: "info", File: path + "/x"}, "--log: open " + path + "/x: not a directory"},
	} {
		if _, _, err := bad.log.Open(os.Stderr); errorText(err) != bad.want {
			t.Errorf("%v: %v, want %s", bad.log, err, bad.want)
		}
	}
}
