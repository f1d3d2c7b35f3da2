// Names of hosts that come from outside.

package protocol

import (
	"fmt"
	"strings"
	"unicode"
)

// maxHostName bounds the name of a host, in bytes: RFC 1035 has 255, and a user may stand
// before it.
const maxHostName = 320

// CheckHost says what is wrong with the name of a host from a starter, a file or a front
// end: it is empty or too long, begins with "-" (a remote shell would take it for an
// option), or has anything but letters, digits and ._:%@[]- (USER@HOST and addresses of
// IPv6 may be given). The text of the error may be shown as it is.
func CheckHost(name string) error {
	odd := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("._:%@[]-", r)
	}
	switch {
	case name == "":
		return fmt.Errorf("the name of a host is empty")
	case len(name) > maxHostName:
		return fmt.Errorf("the name of a host has %d bytes, %d are possible: %.40q…", len(name), maxHostName, name)
	case name[0] == '-':
		return fmt.Errorf("%q is not the name of a host: it begins with -", name)
	case strings.ContainsFunc(name, odd):
		return fmt.Errorf("%q is not the name of a host: it has other characters than letters, digits and ._:%%@[]-", name)
	}
	return nil
}
