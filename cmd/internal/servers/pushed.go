package servers

import (
	"strconv"

	"sdm/launch/ssh"
)

var inputFD = strconv.Itoa(ssh.InputFD)

// OpenPushed opens the rendezvous for servers that a resource manager starts on the nodes of a job
// and whose standard input it can write to.
func (b *Builder) OpenPushed() (*Rendezvous, error) { return b.openOwn() }

// PushedLine returns the command line of such a server and what it is to find at its standard
// input. A shell moves the input to the descriptor of the secret, so that the server's own standard
// input is empty.
func (r *Rendezvous) PushedLine() (argv []string, input []byte, err error) {
	server, err := r.DaemonLine()
	if err != nil {
		return nil, nil, err
	}
	return moved(append(server, "--background")), r.given, nil
}

// moved returns a command line that gives its standard input to another one as the descriptor of
// the secret.
func moved(command []string) []string {
	move := `exec "$@" ` + inputFD + `<&0 </dev/null`
	return append([]string{"/bin/sh", "-c", move, "sdm"}, command...)
}

// detached is the script of DetachedLine. The input passes through a pipe, so that the shell ends
// when it has been read, and not before.
var detached = `if command -v setsid >/dev/null 2>&1; then set -- setsid "$@"; fi
cat | { exec ` + inputFD + `<&0; "$@" </dev/null >/dev/null 2>&1 & }
exit 0`

// DetachedLine is PushedLine for servers of a running job. Its starter passes on what they write,
// waits for their end, and ends with their status; so the shell ends at once, with status 0, and
// the server has a session of its own and no streams. It ends when it loses its connection.
func (r *Rendezvous) DetachedLine() (argv []string, input []byte, err error) {
	server, err := r.DaemonLine()
	if err != nil {
		return nil, nil, err
	}
	return append([]string{"/bin/sh", "-c", detached, "sdm"}, server...), r.given, nil
}
