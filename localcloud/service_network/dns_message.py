"""DNS messages: questions for A records, and their answers. Their form is dnspython's.

RFC 1035, with what RFC 6891 adds: a client says in its OPT record how large an answer by UDP may be.
"""

from __future__ import annotations

import dns.flags
import dns.message
import dns.rcode
import dns.rrset
from dns.rdataclass import IN
from dns.rdatatype import A

from localcloud.service_network.dns_records import Names

TTL_SECONDS = 5
"""Time to live of answers in seconds; CoreDNS' default."""

UDP_BYTES = 512
"""Maximum length of an answer by UDP to a client that states no size (RFC 1035, 4.2.1)."""
LONGEST_UDP_BYTES = 1232
"""Maximum length of an answer by UDP to any client, so that it is not fragmented (https://www.dnsflagday.net/2020/)."""


def answer(query: bytes, names: Names) -> bytes | None:
    """The answer to a query, truncated to what UDP allows; ``None`` for other data."""
    try:
        asked = dns.message.from_wire(query, continue_on_error=True)
    except dns.message.ShortHeader:
        return None
    if asked.flags & dns.flags.QR:
        return None
    response = dns.message.make_response(asked, our_payload=LONGEST_UDP_BYTES)
    response.flags |= dns.flags.AA
    if asked.errors or len(asked.question) != 1:
        response.question = []
        response.set_rcode(dns.rcode.FORMERR)
        return response.to_wire()
    question = asked.question[0]
    name = question.name.to_text(omit_final_dot=True).lower()
    if name not in names:
        response.set_rcode(dns.rcode.NXDOMAIN)
    elif (question.rdtype, question.rdclass) == (A, IN):
        # One record set per address: if not all of them fit, whole sets are omitted.
        response.answer = [dns.rrset.from_text(question.name, TTL_SECONDS, IN, A, address) for address in names[name]]
    longest = min(max(asked.payload, UDP_BYTES), LONGEST_UDP_BYTES)
    return response.to_wire(max_size=longest, prefer_truncation=True)
