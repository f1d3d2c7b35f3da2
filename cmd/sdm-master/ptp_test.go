package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sdm/protocol/ptp"
	"sdm/protocol/ptp/ptptest"
	"sdm/protocol/rank"
)

func eclipse(t *testing.T, tasks int) *ptptest.Eclipse {
	t.Helper()
	e, err := ptptest.Listen(tasks)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Eclipse starts the master before its script has written the routing file.
func TestEclipse(t *testing.T) {
	file := secretFile(t)
	e := eclipse(t, 2)
	host, port, err := net.SplitHostPort(e.Addr())
	must(t, err)
	routes := filepath.Join(t.TempDir(), "routes_7")
	m := start(t, nil, "--master", "--host="+host, "--port="+port, "--routing_file="+routes, "--debugger=gdb-mi", "--debugger_path=/opt/gdb", "--secret-file", file)
	all := rank.Range(0, 1)
	c := newCrew(t, file)
	text := "2\n"
	for i := range 2 {
		l, self := c.listen(i)
		_, port, err := net.SplitHostPort(l.Addr())
		must(t, err)
		text += fmt.Sprintf("%d 127.0.0.1 %s\n", i, port)
		c.serve(i, l, self, nil)
	}
	must(t, os.WriteFile(routes+".part", []byte(text), 0o600))
	must(t, os.Rename(routes+".part", routes))
	must(t, e.Accept()) // when the tree stands
	must(t, e.Send(ptp.Start, "a", "/bin", "/tmp", strings.Repeat("long ", 60)))
	_, err = e.Await(ptp.EventOK, all)
	must(t, err)
	must(t, e.Send(ptp.Go, e.Set(rank.Of(1))))
	_, err = e.Await(ptp.EventSuspend, rank.Of(1))
	must(t, err)
	must(t, e.Send(ptp.Quit))
	for err == nil {
		_, err = e.Next()
	}
	if !errors.Is(err, io.EOF) {
		t.Error(err)
	}
	m.exit(0)
	c.group.Wait()
	if want := "servers take --gdb /opt/gdb"; c.ended != 2 || !strings.Contains(m.stderr.text(), want) {
		t.Errorf("%d servers ended well; said: %s", c.ended, m.stderr.text())
	}
}

func TestEclipseThatVanishes(t *testing.T) {
	for name, say := range map[string]string{"hangs up": "", "speaks HTTP": "GET / HTTP/1.1\r\n\r\n"} {
		t.Run(name, func(t *testing.T) {
			file := secretFile(t)
			e := eclipse(t, 2)
			m := start(t, nil, "--frontend", "ptp", "--connect", e.Addr(), "--secret-file", file, "--rendezvous", "127.0.0.1:0")
			c := newCrew(t, file)
			c.register(m.rendezvous(), 2, 0, 1)
			must(t, e.Accept())
			must(t, e.Send(ptp.Start, "a", "/bin", "/tmp"))
			_, err := e.Await(ptp.EventOK, rank.Range(0, 1))
			must(t, err)
			if say != "" {
				must(t, e.Raw([]byte(say)))
			} else {
				must(t, e.Close())
			}
			m.exit(exitLost)
			if text := m.stderr.text(); !strings.Contains(text, "the front end is gone") || strings.Contains(text, "does not speak") != (say != "") {
				t.Errorf("said: %s", text)
			}
			c.group.Wait()
			if c.ended != 2 {
				t.Errorf("%d servers ended well", c.ended)
			}
		})
	}
}

// A failure to build the tree is reported to Eclipse as a fatal error.
func TestEclipseWithoutServers(t *testing.T) {
	e := eclipse(t, 2)
	m := start(t, nil, "--frontend", "ptp", "--connect", e.Addr(), "--secret-file", secretFile(t), "--routing-file", filepath.Join(t.TempDir(), "none"), "--connect-wait", "300ms")
	must(t, e.Accept())
	must(t, e.Send(ptp.Start, "a", "/bin", "/tmp"))
	p, err := e.Next()
	must(t, err)
	if p.ID != ptp.EventError || p.Args[1] != fmt.Sprint(int(ptp.NoBackend)) || !strings.Contains(p.Args[2], "no such file") {
		t.Errorf("heard %v", p)
	}
	must(t, e.Send(ptp.Quit)) // as Eclipse does then
	m.exit(exitNoTree)
	if text := m.stderr.text(); !strings.Contains(text, "no such file or directory (after 300ms)") || strings.Count(text, "\n") != 1 {
		t.Errorf("said: %s", text)
	}
}

// Eclipse has closed its port meanwhile: nobody will open it again.
func TestEclipseThatRefuses(t *testing.T) {
	e := eclipse(t, 2)
	must(t, e.Close())
	file := secretFile(t)
	m := start(t, nil, "--frontend", "ptp", "--connect", e.Addr(), "--secret-file", file, "--rendezvous", "127.0.0.1:0")
	c := newCrew(t, file)
	c.register(m.rendezvous(), 2, 0, 1)
	m.exit(exitNoTree)
	if text := m.stderr.text(); !strings.Contains(text, "front end at "+e.Addr()+": ") || !strings.HasSuffix(text, "connection refused\n") {
		t.Errorf("said: %s", text)
	}
	c.group.Wait()
	if c.ended != 2 {
		t.Errorf("%d servers ended well", c.ended)
	}
}

func TestEclipseUsage(t *testing.T) {
	for _, tt := range []struct {
		name, want string
		args       []string
	}{
		{"a front end that is not there", "--frontend dap: there are rpc and ptp", []string{"--frontend", "dap", "--connect", "a:1"}},
		{"without an address", "where is the front end? give --host HOST with --port", []string{"--frontend", "ptp", "--port", "5000", "--routing-file", "f"}},
		{"without any", "where is the front end? give --host HOST, or --connect", []string{"--frontend", "ptp", "--routing-file", "f"}},
		{"without servers", "where are the servers? Eclipse does not say", []string{"--host", "h"}},
		{"listening", "is awaited on this host only", []string{"--frontend", "ptp", "--listen", "0", "--routing-file", "f"}},
		{"stdio", "--connect stdio: Eclipse", []string{"--frontend", "ptp", "--connect", "stdio", "--routing-file", "f"}},
		{"two addresses", "give one of them", []string{"--host", "h", "--connect", "a:1", "--routing-file", "f"}},
		{"two front ends", "--host is of Eclipse PTP", []string{"--host", "h", "--frontend", "rpc", "--routing-file", "f"}},
		{"a strange port", "--port 70000: there are 1 to 65535", []string{"--host", "h", "--port", "70000", "--routing-file", "f"}},
		{"two meanings of a port", "--port is the front end's with --host", []string{"--host", "h", "--port", "1", "--generate_routes=a,b"}},
		{"another debugger", "--debugger x10-gdb-mi: gdb-mi is all that there is", []string{"--host", "h", "--debugger=x10-gdb-mi", "--routing-file", "f"}},
		{"another proxy", "--proxy stdio: tcp is all that there is", []string{"--host", "h", "--proxy=stdio", "--routing-file", "f"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := start(t, nil, append(tt.args, "--secret-file", secretFile(t))...)
			m.exit(exitUsage)
			if text := m.stderr.text(); !strings.Contains(text, tt.want) || strings.Count(text, "\n") != 1 {
				t.Errorf("said: %s", text)
			}
		})
	}
}
