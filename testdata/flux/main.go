// Flux stands in for Flux (flux-framework/flux-core) in tests: the commands that sdm calls, with
// the output, exit statuses and refusals of the real ones as their manual pages and sources tell.
// It was not compared with a real Flux. The programs flux and flux-job are this one.
//
// An instance is a folder, $FLUX_URI = local://FOLDER, with files that the test writes:
//
//	hosts     one host a line: the hosts of a job, in this order
//	on        path of a program that runs a command on a host: on HOST CMD (testdata/hosts/on);
//	          empty: all hosts are this one
//	version   of flux-core
//	owner     user id of the owner of the instance
//	gone      hosts that cannot be reached (optional)
//	jobs/ID   made by submit: spec.json, socket of the manager, out, err, status
//
// What it cannot show: signing and authorisation, cgroups, brokers, queues, PMI, scale.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// failure ends the program with a status.
type failure struct {
	status int
	text   string
}

func (f *failure) Error() string { return f.text }

func fail(status int, format string, args ...any) error {
	return &failure{status, fmt.Sprintf(format, args...)}
}

func main() {
	runtime.LockOSThread() // parent-death signals and ptrace are bound to a thread
	err := command(filepath.Base(os.Args[0]), os.Args[1:])
	var f *failure
	switch {
	case errors.As(err, &f):
		if f.text != "" {
			fmt.Fprintln(os.Stderr, f.text)
		}
		os.Exit(f.status)
	case err != nil:
		fmt.Fprintln(os.Stderr, "flux:", err)
		os.Exit(1)
	}
}

func command(name string, args []string) error {
	switch {
	case name == "flux-job":
		args = append([]string{"job"}, args...)
	case len(args) == 0:
		return fail(1, "Usage: flux [OPTIONS] COMMAND ARGS")
	case args[0] == "job": // flux executes its programs
		self, err := os.Executable()
		if err != nil {
			return err
		}
		return syscall.Exec(filepath.Join(filepath.Dir(self), "flux-job"), append([]string{"flux-job"}, args[1:]...), os.Environ())
	}
	switch args[0] { // processes of a job, which are no commands of Flux
	case "standin-manager":
		return manage(args[1])
	case "standin-shell":
		return shell()
	}
	in, err := open()
	if err != nil && args[0] != "version" {
		return err
	}
	switch word, rest := args[0], args[1:]; word {
	case "version":
		return in.printVersion()
	case "getattr":
		return in.getattr(rest)
	case "run", "submit":
		return in.submit(word, rest)
	case "exec":
		return in.exec(rest)
	case "cancel":
		return in.cancel(rest)
	case "job":
		return in.job(rest)
	default:
		return fail(1, "flux: `%s' is not a flux command.  See 'flux --help'", word)
	}
}

// instance is the folder of an instance.
type instance struct{ dir string }

func open() (*instance, error) {
	dir, ok := strings.CutPrefix(os.Getenv("FLUX_URI"), "local://")
	if !ok {
		return nil, fail(1, "flux: flux_open: No such file or directory")
	}
	return &instance{dir}, nil
}

// read returns a file of the instance without blanks at its ends; "" if there is none.
func (in *instance) read(name string) string {
	text, _ := os.ReadFile(filepath.Join(in.dir, name))
	return strings.TrimSpace(string(text))
}

func (in *instance) printVersion() error {
	if in == nil {
		fmt.Printf("commands:    \t\t0.84.0\nlibflux-core:\t\t0.84.0\n")
		return nil
	}
	v := in.read("version")
	fmt.Printf("commands:    \t\t%s\nlibflux-core:\t\t%s\nbuild-options:\t\t+hwloc==2.9.0+zmq==4.3.4\nbroker:  \t\t%s\nFLUX_URI:\t\t%s\n", v, v, v, os.Getenv("FLUX_URI"))
	return nil
}

func (in *instance) getattr(args []string) error {
	if len(args) == 1 && args[0] == "security.owner" {
		fmt.Println(in.read("owner"))
		return nil
	}
	return fail(1, "flux-getattr: %s: No such file or directory", strings.Join(args, " "))
}

// isGuest reports whether the user is not the owner of the instance.
func (in *instance) isGuest() bool { return in.read("owner") != fmt.Sprint(os.Getuid()) }

// on returns the command line that runs another one on a host.
func (in *instance) on(host string, argv []string) []string {
	if on := in.read("on"); on != "" {
		return append([]string{on, host}, argv...)
	}
	return argv
}

// uri returns the address of the broker on node i of the instance: FOLDER/i is FOLDER.
func (in *instance) uri(i int) string {
	link := filepath.Join(in.dir, fmt.Sprint(i))
	os.Symlink(".", link) // it may exist
	return "local://" + link
}

// withURI returns an environment with the address of the broker on node i.
func (in *instance) withURI(env []string, i int) []string {
	var out []string
	for _, e := range env {
		if !strings.HasPrefix(e, "FLUX_URI=") && !strings.HasPrefix(e, "FLUX_PROXY_REMOTE=") {
			out = append(out, e)
		}
	}
	return append(out, "FLUX_URI="+in.uri(i))
}
