// Addresses among the leaves.

package shape

import "strings"

// Address is what Bare gives for an address that nothing is known of.
const Address = "0x"

// Bare takes an address out of a leaf, where it stands in the mappings of one process: what gdb has
// found there remains ("<buf+16>", "\"hello\""), or Address. Null pointers and small numbers in
// hexadecimal, which are none, stay as they are.
func Bare(leaf string) string {
	if !strings.HasPrefix(leaf, "0x") {
		return leaf
	}
	n := numberLength(leaf)
	if n <= len("0xffff") {
		return leaf
	}
	if rest := strings.TrimPrefix(leaf[n:], " "); rest != "" {
		return rest
	}
	return Address
}
