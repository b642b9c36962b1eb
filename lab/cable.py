"""A slow cable: carries frames between two ports of the switch, later, slower, and not all of them.

Arguments: port, port, milliseconds each way, kilobits a second each way (0: as fast as it can), share of frames lost.
Says `ready` on descriptor 3. This kernel has no netem; the language of the lab has no packet sockets.
"""

import heapq
import os
import random
import select
import socket
import sys
import time

SOL_PACKET, PACKET_ADD_MEMBERSHIP, PACKET_MR_PROMISC, PACKET_VNET_HDR, PACKET_IGNORE_OUTGOING = 263, 1, 1, 15, 23
ETH_P_ALL = 3
LARGEST = 10 + 65536 + 64
# As much as a small router holds; what comes when it is full is lost, which is how senders notice.
MOST_WAITING = 256 * 1024


def port(name):
    end = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    # With this header a frame that the kernel has not cut up or summed yet stays what it is.
    end.setsockopt(SOL_PACKET, PACKET_VNET_HDR, 1)
    end.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
    end.bind((name, 0))
    index = socket.if_nametoindex(name)
    end.setsockopt(SOL_PACKET, PACKET_ADD_MEMBERSHIP, index.to_bytes(4, "little") + bytes([PACKET_MR_PROMISC, 0]) + bytes(10))
    end.setblocking(False)
    return end


def main():
    ends = [port(sys.argv[1]), port(sys.argv[2])]
    latency, rate, lost = float(sys.argv[3]) / 1000, float(sys.argv[4]) * 1000, float(sys.argv[5])
    other = {ends[0]: ends[1], ends[1]: ends[0]}
    free_at = {end: 0.0 for end in ends}
    waiting = {end: 0 for end in ends}
    due, count = [], 0
    os.write(3, b"ready\n")
    os.close(3)
    while True:
        rest = max(0.0, due[0][0] - time.monotonic()) if due else None
        for end in select.select(ends, [], [], rest)[0]:
            for _ in range(64):
                try:
                    frame = end.recv(LARGEST)
                except BlockingIOError:
                    break
                if random.random() < lost or (rate and waiting[end] > MOST_WAITING):
                    continue
                now = time.monotonic()
                free_at[end] = max(now, free_at[end]) + (len(frame) * 8 / rate if rate else 0)
                waiting[end] += len(frame)
                count += 1
                heapq.heappush(due, (free_at[end] + latency, count, end, frame))
        while due and due[0][0] <= time.monotonic():
            _, _, end, frame = heapq.heappop(due)
            waiting[end] -= len(frame)
            try:
                other[end].send(frame)
            except OSError:
                pass  # the other end is pulled: a frame into nothing is lost


main()
