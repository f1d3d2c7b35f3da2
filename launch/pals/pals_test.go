package pals

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sdm/protocol"
	"sdm/protocol/rank"
)

const one, two = "01234567-89ab-cdef-0123-456789abcdef", "76543210-89ab-cdef-0123-456789abcdef"

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"12": "12 ", "12.pbs-1.site": "12.pbs-1.site ", "12[3].pbs": "12[3].pbs ", "12:" + one: "12 " + one,
		"": "no job of PBS", "x": "no job of PBS", "12;rm": "no job of PBS", "-f": "no job of PBS", "12:": "no application", "12:x": "no application",
		strings.Repeat("1", 200): "no job of PBS",
	} {
		j, err := ParseJob(text)
		got := j.ID + " " + string(j.APID)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	for _, text := range []string{"", one + "x", one[1:], "-" + one[1:]} {
		if _, err := ParseAPID(text); err == nil {
			t.Errorf("%q is an APID", text)
		}
	}
}

func TestReadFirstHost(t *testing.T) {
	for text, want := range map[string]string{
		"Job Id: 12\n    job_state = R\n    exec_host = n1/0*8+n2/0*8\n":               "n1",
		"Job Id: 12\n    exec_host = x1000c0s0b0\n\tn1/0*8+n2/0\n\t*8\n    A = n9/1\n": "x1000c0s0b0n1",
		"    job_state = Q\n    comment = Not Running: Insufficient\n\t amount\n":      "job 12 has no nodes (state Q): Not Running: Insufficient amount",
		"    job_state = F\n":  "job 12 has no nodes (state F)",
		"":                     "job 12 has no nodes (state )",
		"    exec_host = /0":   "the name of a host is empty",
		"    exec_host = -n/0": `"-n" is not the name of a host: it begins with -`,
	} {
		host, err := ReadFirstHost("12", text)
		if err != nil {
			host = err.Error()
		}
		if host != want {
			t.Errorf("%q: %s, want %s", text, host, want)
		}
	}
}

func TestChoose(t *testing.T) {
	block := func(id, job, state string) string {
		return "APID: " + id + "\nName: a: b\nJobID: " + job + "\nState: " + state + "\nTool ID: t1\nTool ID: t2\n\n"
	}
	for _, c := range []struct{ job, listed, want string }{
		{"12", block(one, "12.pbs", "running"), one},
		{"12.pbs", block(one, "12.pbs", "startup"), one},
		{"1", block(one, "12.pbs", "running"), "palstat shows no application of job 1 on n1: one that has a single node is shown only if"},
		{"12", block(one, "12.pbs", "complete") + block(two, "12.pbs", "pending"), two},
		{"12", block(one, "12", "running") + block(two, "12", "running"), "job 12 has several applications: " + one + ", " + two + " (give one: pbs:12:" + one + ")"},
		{"12:" + two, block(one, "12", "running") + block(two, "12", "running"), two},
		{"12", "", "palstat shows no application"},
		{"12", "JobID: 12\nState: running\n", "palstat shows no application"},
	} {
		j, err := ParseJob(c.job)
		if err != nil {
			t.Fatal(err)
		}
		id, err := j.Choose("n1", ReadApps(c.listed))
		got := string(id)
		if err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%s of %q: %s, want %s", c.job, c.listed, got, c.want)
		}
	}
	if apps := ReadApps(block(one, "12", "running")); len(apps) != 1 || !slices.Equal(apps[0].Helpers, []string{"t1", "t2"}) {
		t.Errorf("%+v", apps)
	}
}

func TestReadTable(t *testing.T) {
	table, err := ReadTable("HOST EXE PID\nn1 ./a 4711\nn2 /bin/my app 12\n\nn3 x 1\n")
	want := protocol.Proctable{{Rank: 0, Host: "n1", PID: 4711, Program: "./a"}, {Rank: 1, Host: "n2", PID: 12, Program: "/bin/my app"}}
	if err != nil || !slices.Equal(table, want) {
		t.Errorf("%+v, %v", table, err)
	}
	for _, text := range []string{"H\nn1 a\n", "H\nn1 a -1\n", "H\nn1 a x\n", "H\n-n a 1\n", "H\nn1 1\n"} {
		if table, err := ReadTable(text); err == nil {
			t.Errorf("%q: %v", text, table)
		}
	}
}

func TestHostList(t *testing.T) {
	for _, c := range []struct{ first, hosts, want string }{
		{"n2", "n1 n2 n3", "n2 n1 n3"}, {"n2.site", "n1 n2", "n2 n1"}, {"n1", "n1 n2", "n1 n2"}, {"n9", "n1 n2", "n1 n2"}, {"n3", "n1 n2 n3.site", "n3.site n1 n2"},
	} {
		if got := strings.Join(strings.Fields(hostList(c.first, strings.Fields(c.hosts))), " "); got != c.want {
			t.Errorf("%s of %s: %s, want %s", c.first, c.hosts, got, c.want)
		}
	}
}

func TestReadHelper(t *testing.T) {
	if got, err := ReadHelper("x\nLaunched tool helper " + one + "\n"); got != one || err != nil {
		t.Errorf("%s, %v", got, err)
	}
	if got, err := ReadHelper("palscmd: not found"); err == nil {
		t.Error(got)
	}
}

// TestHelperOutlivesAFailure has a palstat that fails once, and later does not list the helper any more.
func TestHelperOutlivesAFailure(t *testing.T) {
	dir := t.TempDir()
	script := `#!/bin/sh
echo >>` + dir + `/calls
case $(wc -l <` + dir + `/calls) in
2) echo "palstat: cannot connect" >&2; exit 1 ;;
4) echo "APID: ` + one + `" ;;
*) printf 'APID: %s\nTool ID: t1\n' ` + one + ` ;;
esac
`
	if err := os.WriteFile(filepath.Join(dir, "palstat"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	a := Application{Node: "n1", ID: one}
	done := make(chan struct{})
	a.watch(t.Context(), "t1", done)
	calls, err := os.ReadFile(filepath.Join(dir, "calls"))
	select {
	case <-done:
	default:
		t.Error("its end is not seen")
	}
	if err != nil || len(calls) != 4 {
		t.Errorf("it has ended after %d calls, %v", len(calls), err)
	}
}

func TestReadVersion(t *testing.T) {
	for text, want := range map[string][3]int{
		"palstat version 1.2.3": {1, 2, 3}, "palstat version 1.7": {1, 7, 0}, "palstat version 1.6.0-rc1 (x)\n": {1, 6, 0},
	} {
		if got, err := ReadVersion(text); err != nil || got != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "palstat version", "palstat version x", "palstat version 1.-2", "1.2.3"} {
		if got, err := ReadVersion(text); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add("APID: " + one + "\nJobID: 12.pbs\nState: running\nTool ID: x\n")
	f.Add("    job_state = R\n    exec_host = n1/0*8+n2\n\t/0*8\n")
	f.Add("HOST EXE PID\nn1 ./a 4711\n")
	f.Add("Launched tool helper " + one)
	f.Fuzz(func(t *testing.T, text string) {
		if table, err := ReadTable(text); err == nil {
			for i, p := range table {
				if p.Rank != rank.ID(i) || p.PID <= 0 || protocol.CheckHost(p.Host) != nil || p.Program == "" {
					t.Errorf("%q: %+v", text, p)
				}
			}
		}
		if host, err := ReadFirstHost("12", text); err == nil && protocol.CheckHost(host) != nil {
			t.Errorf("%q: host %q", text, host)
		}
		for _, a := range ReadApps(text) {
			if _, err := ParseAPID(string(a.APID)); err != nil {
				t.Errorf("%q: %v", text, err)
			}
		}
		if id, err := (Job{ID: "12"}).Choose("n1", ReadApps(text)); err == nil && !strings.Contains(text, string(id)) {
			t.Errorf("%q: %s", text, id)
		}
		if j, err := ParseJob(text); err == nil && (j.ID == "" || j.ID[0] == '-') {
			t.Errorf("%q: %+v", text, j)
		}
		if v, err := ReadVersion(text); err == nil && min(v[0], v[1], v[2]) < 0 {
			t.Errorf("%q: %v", text, v)
		}
		if name, err := ReadHelper(text); err == nil && !strings.Contains(text, name) {
			t.Errorf("%q: %s", text, name)
		}
	})
}

func TestReadState(t *testing.T) {
	text := "Job Id: 12.pbs\n    job_state = Q\n    comment = Not Running: Insufficient\n\tamount of resource: ncpus\n"
	if state, why := ReadState(text); state != "Q" || why != "Not Running: Insufficientamount of resource: ncpus" {
		t.Errorf("%q, %q", state, why)
	}
}
