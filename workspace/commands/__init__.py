"""The commands, in one visible list."""

from workspace.commands import api, audit, automations, company, demo, doctor, invitations, money, people, processes

COMMANDS = (
    demo.add,
    company.add_init,
    company.add_serve,
    company.add_key,
    api.add_call,
    api.add_openapi,
    invitations.add_invite,
    people.add_people,
    people.add_unlink,
    people.add_forget,
    money.add_limit,
    money.add_pin,
    money.add_close,
    audit.add,
    processes.add_bot,
    processes.add_run,
    processes.add_up,
    automations.add,
    doctor.add,
)
