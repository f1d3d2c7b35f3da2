// The other end: listening, and streams that can be closed.

package dial

import (
	"io"
	"net"
	"os"
	"strings"
)

// Listen listens at "HOST:PORT", at "unix:PATH" with mode 0600, or at "unix:@NAME" for an abstract name (unix(7)). That
// has no mode: the caller must check its peers.
func Listen(addr string) (net.Listener, error) {
	network, address := Split(addr)
	l, err := net.Listen(network, address)
	if err != nil || network != "unix" || strings.HasPrefix(address, "@") {
		return l, err
	}
	if err := os.Chmod(address, 0o600); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// Interruptible returns a reader of in whose Close ends a Read. If a Read of in itself cannot be interrupted, as with a
// terminal, one goroutine remains until the process ends.
func Interruptible(in io.Reader) *io.PipeReader {
	r, w := io.Pipe()
	go func() {
		_, err := io.Copy(w, in)
		w.CloseWithError(err)
	}()
	return r
}
