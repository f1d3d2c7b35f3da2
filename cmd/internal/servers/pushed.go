package servers

import (
	"strconv"

	"sdm/launch/ssh"
)

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
	move := `exec "$@" ` + strconv.Itoa(ssh.InputFD) + `<&0 </dev/null`
	return append([]string{"/bin/sh", "-c", move, "sdm"}, command...)
}
