package startup

import (
	"errors"
	"fmt"
	"net"
	"strconv"
)

// CheckAddress refuses what is not HOST:PORT, with a port from lowest on: 0 where one
// may be picked.
func CheckAddress(addr string, lowest int) error {
	host, port, err := net.SplitHostPort(addr)
	switch {
	case err != nil:
		return err
	case host == "":
		return errors.New("which host")
	}
	if n, err := strconv.Atoi(port); err != nil || n < lowest || n > 65535 {
		return fmt.Errorf("port %q is not a number from %d to 65535", port, lowest)
	}
	return nil
}
