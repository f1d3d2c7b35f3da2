// Command sdm-pmix makes calls of libpmix for sdm. It is the only program of sdm that needs C, and
// the only one that is linked dynamically. Users do not start it; sdm/launch/pmix does, and
// documents the protocol between the two.
//
// It is built with the tag pmix, against the oldest libpmix at hand: a library of release 7 cannot
// reach servers of release 5 and before, 4.2 reaches all.
package main
