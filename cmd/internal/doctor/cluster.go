// Checks of Slurm, Kubernetes, PMIx and other hosts.

package doctor

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"sdm/launch/pmix"
	"sdm/launch/slurm"
	"sdm/launch/ssh"
)

// slurm checks whether there is a cluster of Slurm, and whether its controller answers.
func (m Machine) slurm(ctx context.Context) []Finding {
	path, err := m.find("scontrol")
	if err != nil {
		return []Finding{{Check: "Slurm", Grade: Absent, Found: "none"}}
	}
	text, err := m.ask(ctx, path, "ping")
	if err != nil || !strings.Contains(text, "is UP") {
		return []Finding{{Check: "Slurm", Grade: Warning, Found: "the controller does not answer: " + firstLine(text), Hint: "on a machine of the cluster: is SLURM_CONF right?"}}
	}
	f := Finding{Check: "Slurm", Grade: Good, Found: firstLine(text)}
	if version, err := m.ask(ctx, path, "--version"); err == nil {
		f.Found = firstLine(version) + "; " + f.Found
		if bad := slurm.Broken(version); bad != nil {
			f.Grade, f.Hint = Warning, bad.Error()+": sdm attach slurm:JOB asks the hosts of the job for its ranks"
		}
	}
	if job := m.lookup("SLURM_JOB_ID"); job != "" {
		f.Found += "; inside job " + job + ": sdm run PROGRAM uses srun"
	}
	return []Finding{f}
}

// kubernetes finds kubectl.
func (m Machine) kubernetes(context.Context) []Finding {
	path, err := m.find("kubectl")
	if err != nil {
		return []Finding{{Check: "kubectl", Grade: Absent, Found: "none"}}
	}
	return []Finding{{Check: "kubectl", Grade: Good, Found: path + "; --remote-shell kubectl starts the servers in pods"}}
}

// pmix finds the PMIx libraries.
func (m Machine) pmix(context.Context) []Finding {
	var found []string
	for _, pattern := range []string{"/usr/lib/*/libpmix.so.2*", "/usr/lib/*/pmix*/lib/libpmix.so.2*", "/usr/lib64/libpmix.so.2*", "/usr/local/lib/libpmix.so.2*", "/opt/pmix/lib/libpmix.so.2*"} {
		files, _ := filepath.Glob(filepath.Join("/", m.Root, pattern)) // the patterns are valid
		for _, file := range files {
			if info, err := os.Lstat(file); err == nil && info.Mode().IsRegular() {
				found = append(found, file)
			}
		}
	}
	if len(found) == 0 {
		return []Finding{{Check: "PMIx", Grade: Absent, Found: "no library"}}
	}
	return []Finding{{Check: "PMIx", Grade: Good, Found: strings.Join(found, ", ")}, m.pmixProgram()}
}

// pmixProgram looks for sdm-pmix beside sdm-server, which is beside sdm, and in PATH.
func (m Machine) pmixProgram() Finding {
	path := filepath.Join(filepath.Dir(m.Server), pmix.Program)
	_, err := os.Stat(path)
	if m.Server == "" || err != nil {
		path, err = m.find(pmix.Program)
	}
	if err != nil {
		return Finding{
			Check: pmix.Program, Grade: Absent, Found: "not installed; needed by sdm run --launcher pmix alone",
			Hint: "install libpmix's headers (libpmix-dev, pmix-devel) and pkg-config, then make build",
		}
	}
	return Finding{Check: pmix.Program, Grade: Good, Found: path}
}

// atOnce is how many hosts are asked concurrently.
const atOnce = 16

// question is the script that each host executes. It prints lines of NAME=VALUE.
const question = `echo "system=$(uname -sm)"; echo "gdb=$(command -v gdb)"; echo "version=$(gdb -nx --version 2>/dev/null | head -n 1)"; echo "yama=$(cat /proc/sys/kernel/yama/ptrace_scope 2>/dev/null)"; echo denied=$(cat /sys/fs/selinux/enforce 2>/dev/null) $(cat /sys/fs/selinux/booleans/deny_ptrace 2>/dev/null); echo "toolset=$(ls -d ` + toolsetGDBs + ` 2>/dev/null | sort -V | tail -n 1)"; echo "server=$(%s --version 2>&1 | head -n 1)"`

// hosts asks the hosts by ssh.
func (m Machine) hosts(ctx context.Context) []Finding {
	all := make([][]Finding, len(m.Hosts))
	places := make(chan struct{}, atOnce)
	var group sync.WaitGroup
	for i, host := range m.Hosts {
		group.Go(func() {
			places <- struct{}{}
			all[i] = m.host(ctx, host)
			<-places
		})
	}
	group.Wait()
	var rows []Finding
	for _, some := range all {
		rows = append(rows, some...)
	}
	return rows
}

// host asks one host.
func (m Machine) host(ctx context.Context, host string) []Finding {
	shell := strings.Fields(m.RemoteShell)
	if len(shell) == 0 {
		shell = []string{"ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=5"}
	}
	server := m.Server
	if server == "" {
		server = "sdm-server"
	}
	argv := ssh.Argv(shell, host, fmt.Sprintf(question, quoted(server)))
	text, err := m.ask(ctx, argv[0], argv[1:]...)
	values := map[string]string{}
	for _, line := range strings.Split(text, "\n") {
		if name, value, ok := strings.Cut(line, "="); ok {
			values[name] = strings.TrimSpace(value)
		}
	}
	if values["system"] == "" {
		if _, missing := err.(*exec.Error); missing || text == "" {
			text = fmt.Sprint(err)
		}
		return []Finding{{Host: host, Check: "reach", Grade: Bad, Found: "not reached: " + firstLine(text),
			Hint: "try it by hand: " + shell[0] + " " + host + " true (without a password; or give --remote-shell CMD)"}}
	}
	rows := []Finding{{Host: host, Check: "reach", Grade: Good, Found: values["system"] + " by " + filepath.Base(shell[0])}}
	hint := "install gdb there, or give --gdb PATH"
	if values["toolset"] != "" {
		hint = "a toolset has one: --gdb " + values["toolset"]
	}
	rows = append(rows, rowOf(host, "gdb", values["gdb"] != "", values["gdb"]+", "+values["version"], "no gdb in PATH", hint))
	good := strings.HasPrefix(values["server"], "sdm-server ")
	rows = append(rows, rowOf(host, "sdm-server", good, values["server"], "no "+server, "install it there under the same path, or share the file system"))
	if y := values["yama"]; y != "" && y != "0" {
		rows = append(rows, Finding{Host: host, Check: "ptrace", Grade: Warning, Found: "Yama " + y, Hint: "sdm attach needs sysctl kernel.yama.ptrace_scope=0 there"})
	}
	if strings.HasPrefix(values["denied"], "1 1") {
		rows = append(rows, Finding{Host: host, Check: "SELinux", Grade: Bad, Found: "deny_ptrace is on: no process may debug others", Hint: "ask the administrator: setsebool deny_ptrace off there"})
	}
	return rows
}

// rowOf returns the finding of a check that is either good or bad.
func rowOf(host, check string, good bool, found, missing, hint string) Finding {
	if good {
		return Finding{Host: host, Check: check, Grade: Good, Found: found}
	}
	return Finding{Host: host, Check: check, Grade: Bad, Found: missing, Hint: hint}
}

// quoted quotes a word for a shell.
func quoted(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }
