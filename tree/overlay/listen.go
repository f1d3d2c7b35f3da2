// Opening a listening port.

package overlay

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"
)

// MaxPorts is the highest number of ports that a listener or a dialling side
// tries, from the base port upwards.
const MaxPorts = 1000

// listen takes the first free port of those from addr's port upwards; port 0
// leaves the choice to the system.
func listen(addr string, ports int) (net.Listener, error) {
	host, first, err := splitAddr(addr)
	if err != nil {
		return nil, err
	}
	if host == "" {
		return nil, fmt.Errorf("listen on %q: no host; name the address of one interface (0.0.0.0 is all of them)", addr)
	}
	last := lastPort(first, ports)
	for port := first; port <= last; port++ {
		l, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
		if err == nil {
			return l, nil
		}
		if !errors.Is(err, syscall.EADDRINUSE) {
			return nil, err
		}
	}
	return nil, fmt.Errorf("listen on %s: ports %d to %d are all in use; choose another base port", host, first, last)
}

func splitAddr(addr string) (host string, port int, err error) {
	host, text, err := net.SplitHostPort(addr)
	if err != nil {
		return "", 0, fmt.Errorf("address %q: %w", addr, err)
	}
	port, err = strconv.Atoi(text)
	if err != nil || port < 0 || port > 65535 {
		return "", 0, fmt.Errorf("address %q: port %q is not a number from 0 to 65535", addr, text)
	}
	return host, port, nil
}

// lastPort is the end of a range of ports, within MaxPorts and the numbers that
// there are.
func lastPort(first, ports int) int {
	if first == 0 {
		return 0
	}
	return min(first+max(1, min(ports, MaxPorts))-1, 65535)
}
