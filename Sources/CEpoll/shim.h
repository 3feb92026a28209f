// What Swift's own Glibc module leaves out.
#pragma once
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

extern int accept4(int descriptor, struct sockaddr *address, socklen_t *length, int flags);
