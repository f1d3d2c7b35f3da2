// Package ptp encodes and decodes the packets of the debug protocol of Eclipse PTP,
// which its front end and the master of the original SDM use: bytes, sets of tasks,
// and AIF, the encoding of values. It does no I/O.
//
// A packet is a length of four bytes, highest first, and a body. A body is a byte
// of flags and a payload, which Eclipse compresses if that saves space. A payload
// is three numbers (code, transaction, number of arguments) and the arguments.
// Numbers have seven bits in each byte, lowest first, as in protocol buffers.
//
//	00 00 00 0e | 00 | 10 | 00 | 02 | 00 00 04 "4:0f" | 00 00 01 "n"
//	length      flags  id  trans. args  type, key, value
//
// The code ("id") counts from 0 for commands and from 100 for events (Commands and
// the constants beside it). Where the two ends of the original disagree, this
// package follows the one in Java, the only front end. Text is ISO 8859-1.
package ptp
