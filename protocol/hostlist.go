// Lists of hosts as resource managers write them.

package protocol

import (
	"strconv"
	"strings"
)

// HostMatches reports whether a host is in a list as resource managers write it: "node07",
// "node[01-16,20]", "rack[1-2]n[01-04]". The host may be named without its domain.
func HostMatches(list, host string) bool {
	short, _, _ := strings.Cut(host, ".")
	return hostMatches(list, host) || hostMatches(list, short)
}

// hostMatches reports whether a host matches a pattern. Numbers in brackets have as many digits as
// they are written with. An invalid pattern matches no host.
func hostMatches(pattern, host string) bool {
	prefix, rest, bracket := strings.Cut(pattern, "[")
	if !bracket {
		return pattern == host && host != ""
	}
	host, ok := strings.CutPrefix(host, prefix)
	list, after, closed := strings.Cut(rest, "]")
	if !ok || !closed {
		return false
	}
	digits := 0
	for digits < len(host) && '0' <= host[digits] && host[digits] <= '9' {
		digits++
	}
	for n := digits; n > 0; n-- { // a digit may follow the bracket
		if numberIn(list, host[:n]) && tailMatches(after, host[n:]) {
			return true
		}
	}
	return false
}

func tailMatches(pattern, host string) bool {
	return pattern == "" && host == "" || hostMatches(pattern, host)
}

// numberIn reports whether a number is in a list such as "01-16,20".
func numberIn(list, number string) bool {
	n, err := strconv.ParseUint(number, 10, 32)
	if err != nil {
		return false
	}
	for _, item := range strings.Split(list, ",") {
		first, last, ranged := strings.Cut(item, "-")
		if !ranged {
			last = first
		}
		low, err1 := strconv.ParseUint(first, 10, 32)
		high, err2 := strconv.ParseUint(last, 10, 32)
		padded := len(first) == len(last) && first != "" && first[0] == '0'
		if err1 != nil || err2 != nil || n < low || n > high || padded && len(number) != len(first) {
			continue
		}
		if padded || strconv.FormatUint(n, 10) == number || len(number) == len(first) {
			return true
		}
	}
	return false
}
