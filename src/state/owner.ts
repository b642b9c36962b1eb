/** The user that commands on the machine of the state folder act as. */
export const owner = 'owner';
