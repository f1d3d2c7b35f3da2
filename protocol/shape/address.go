// Addresses in leaves.

package shape

import "strings"

// Address is the result of Bare for an address without a known symbol.
const Address = "0x"

// Known removes the address from a leaf if gdb shows what is there: "<buf+16>".
// Other leaves are returned unchanged.
func Known(leaf string) string {
	if bare := Bare(leaf); bare != Address {
		return bare
	}
	return leaf
}

// Bare removes an address in the mappings of one process from a leaf: it returns
// what gdb shows for it ("<buf+16>", "\"hello\""), or Address. Null pointers and
// small hexadecimal numbers, which are not addresses, are returned unchanged.
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
