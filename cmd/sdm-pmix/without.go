// The program that is built where there is no libpmix.

//go:build !pmix

package main

import (
	"fmt"
	"os"
)

// main says that there is no libpmix. make build does not install this variant.
func main() {
	fmt.Fprintln(os.Stderr, "sdm-pmix: built without libpmix (make build links it where pkg-config finds pmix: libpmix-dev of Debian, pmix-devel of Fedora)")
	os.Exit(2)
}
