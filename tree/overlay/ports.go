// Addresses and ranges of ports.

package overlay

import (
	"fmt"
	"net"
	"strconv"
)

// MaxPorts is the maximum number of ports that a listener or a dialling side tries,
// from the base port upwards.
const MaxPorts = 1000

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

// lastPort returns the end of a range of ports, within MaxPorts and the valid
// numbers.
func lastPort(first, ports int) int {
	if first == 0 {
		return 0
	}
	return min(first+max(1, min(ports, MaxPorts))-1, 65535)
}
