// Addresses among the leaves.

package shape

import "strings"

// Address is what Bare gives for an address that nothing is known of.
const Address = "0x"

// Known takes the address out of a leaf where gdb has found something there: "<buf+16>". Other leaves stay as
// they are.
func Known(leaf string) string {
	if bare := Bare(leaf); bare != Address {
		return bare
	}
	return leaf
}

// Bare takes an address out of a leaf, where it stands in the mappings of one process: what gdb has
// found there remains ("<buf+16>", "\"hello\""), or Address. Null pointers and small numbers in
// hexadecimal, which are none, stay as they are.
func Bare(leaf string) string {
	if !strings.HasPrefix(leaf, "0x") {
		return leaf
	}
	n := numberLength(leaf)
	switch rest := strings.TrimPrefix(leaf[n:], " "); {
	case rest != "":
		return rest
	case n <= len("0xffff"):
		return leaf
	}
	return Address
}
