// Checks of addresses that flags name.

package startup

import (
	"errors"
	"fmt"
	"net"
	"strconv"
)

// CheckAddress returns an error unless addr is HOST:PORT with a port not below lowest. lowest is 0
// if any free port will do.
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
