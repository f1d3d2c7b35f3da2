// Validation of host names.

package protocol

import (
	"fmt"
	"strings"
	"unicode"
)

// maxHostName bounds the name of a host, in bytes: RFC 1035 permits 255, and a user
// name may precede it.
const maxHostName = 320

// CheckHost validates the name of a host from a starter, a file or a front end. A
// name is invalid if it is empty or too long, begins with "-" (a remote shell would
// treat it as an option), or contains characters other than letters, digits and
// ._:%@[]- (USER@HOST and IPv6 addresses are permitted). The text of the error may
// be shown as it is.
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
