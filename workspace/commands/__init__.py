"""The commands, in one visible list."""

from workspace.commands import api, automations, company, demo, doctor, invitations, people, processes

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
    processes.add_bot,
    processes.add_run,
    processes.add_up,
    automations.add,
    doctor.add,
)
