// Package ptp provides the packets of the debug protocol of Eclipse PTP, which its
// front end and a master of the original SDM speak: bytes, sets of tasks, and AIF, the
// form of values. It does no I/O.
//
// A packet is a length of four bytes, highest first, and a body. A body is a byte of
// flags and a payload, which Eclipse compresses where that saves something. A payload
// is three numbers (what it is, a transaction, how many arguments) and the arguments.
// Numbers have seven bits in each byte, lowest first, as in protocol buffers.
//
//	00 00 00 0e | 00 | 10 | 00 | 02 | 00 00 04 "4:0f" | 00 00 01 "n"
//	length      flags  id  trans. args  type, key, value
//
// The id counts from 0 for commands and from 100 for events (Commands and the
// constants beside it). Where both of the original's ends disagree, Java counts: it is
// the only front end. It is ISO 8859-1 on the wire.
package ptp
