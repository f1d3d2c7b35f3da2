// How commands are started on other hosts: ssh, another remote shell, srun, a start tool.

package servers

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"sdm/launch/slurm"
	"sdm/launch/ssh"
	"sdm/protocol"
)

// Way is how commands are started on other hosts. The zero value is ssh.
type Way struct {
	RemoteShell string // command in place of ssh; "": ssh
	StartTool   string // template of one command that starts all, in place of remote shells; "": none
}

// toolLine returns the line for a shell that starts a command on some hosts of a job by StartTool.
func (b *Builder) toolLine(id string, hosts, command []string) string {
	if slurm.IsTool(b.StartTool) && len(b.Components) > 0 {
		return slurm.BesideAll(b.StartTool, ssh.Quote(id), b.Components, hosts, ssh.QuoteAll(command), protocol.SameHost)
	}
	return ToolLine(b.StartTool, id, hosts, command)
}

// OnHosts returns the command that runs another one on some hosts of a job by StartTool, and the
// environment that it needs; nil is this process's.
func (b *Builder) OnHosts(id string, hosts, command []string) (c ssh.Command, env []string) {
	if slurm.IsTool(b.StartTool) {
		env = slurm.Environ(b.StarterEnv)
	}
	return ssh.Command{Host: "--start-tool", Argv: []string{"/bin/sh", "-c", b.toolLine(id, hosts, command)}, Local: true}, env
}

// IsChosen reports whether the way is another one than ssh.
func (w *Way) IsChosen() bool { return w.StartTool != "" || w.RemoteShell != "" }

// UseSlurm lets srun start the commands, unless another way is chosen already.
func (w *Way) UseSlurm() {
	if !w.IsChosen() {
		w.StartTool = slurm.Tool
	}
}

// LeaveNetwork changes the way after srun has said that our step gets none of the interconnect:
// first srun without it, then ssh. said is a message about that to the user. It is empty if srun was
// not the way and nothing has changed.
func (w *Way) LeaveNetwork() (said string) {
	switch w.StartTool {
	case slurm.Tool:
		w.StartTool = slurm.ToolWithoutNetwork
		return "srun has no interconnect left for a step of ours: it starts the servers with --network=no_vni"
	case slurm.ToolWithoutNetwork:
		w.StartTool = ""
		return "srun has no interconnect left for a step of ours, even with --network=no_vni: ssh starts the servers"
	}
	return ""
}

// UseShell uses the remote shell of a starter, unless another way is chosen already. For ssh sdm's
// own options are used, which suppress all prompts.
func (w *Way) UseShell(shell []string) {
	split := slices.ContainsFunc(shell, func(w string) bool { return strings.ContainsAny(w, " \t\n") })
	if !w.IsChosen() && len(shell) > 0 && !split && filepath.Base(shell[0]) != "ssh" {
		w.RemoteShell = strings.Join(shell, " ")
	}
}

// Shell returns the words of the remote shell; nil: ssh.
func (w *Way) Shell() []string { return strings.Fields(w.RemoteShell) }

// ShellHint is the advice for remote shells that start nothing.
const ShellHint = "is ssh set up, without a password? --remote-shell CMD names another; --start-tool CMD starts all"

// ToolLine fills in the template of a start tool and returns a line for the shell.
func ToolLine(template, id string, hosts, command []string) string {
	if !strings.Contains(template, "{daemon}") {
		template += " {daemon}"
	}
	return strings.NewReplacer("{jobid}", ssh.Quote(id), "{hosts}", ssh.Quote(strings.Join(hosts, ",")),
		"{nodes}", strconv.Itoa(len(hosts)), "{daemon}", ssh.QuoteAll(command)).Replace(template)
}

// IsHere reports whether host is this host, by name or by address.
func IsHere(host string) bool {
	own, _ := os.Hostname()
	if host == "localhost" || host == own || net.ParseIP(host) == nil && protocol.SameHost(host, own) {
		return true
	}
	addrs, err := net.LookupHost(host)
	if err != nil {
		return false
	}
	mine, err := net.InterfaceAddrs()
	if err != nil {
		return false
	}
	for _, m := range mine {
		if n, ok := m.(*net.IPNet); ok && slices.Contains(addrs, n.IP.String()) {
			return true
		}
	}
	return false
}

// HostName returns the name of this host, for tables made by sdm.
func HostName() string {
	if name, err := os.Hostname(); err == nil {
		return name
	}
	return "localhost"
}
