/* Collectives of files. A file has no name. */
#include "truth.h"

void files(void)
{
	char name[4096];
	int how = MPI_MODE_CREATE | MPI_MODE_RDWR;
	MPI_File file;
	snprintf(name, sizeof name, "%s/data", directory);
	TOGETHER(("File_open amode=%d comm=copy", how), MPI_File_open(copy, name, how, MPI_INFO_NULL, &file));
	TOGETHER(("File_set_view file=[0,1,2,3]"), MPI_File_set_view(file, 16 * rank, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
	TOGETHER(("File_write_all count=4 type=MPI_INT file=[0,1,2,3]"), MPI_File_write_all(file, buf, 4, MPI_INT, MPI_STATUS_IGNORE));
	TOGETHER(("File_write_at_all offset=%d count=4 type=MPI_INT file=[0,1,2,3]", 4 * rank), MPI_File_write_at_all(file, 4 * rank, buf, 4, MPI_INT, MPI_STATUS_IGNORE));
	TOGETHER(("File_read_at_all offset=%d count=3 type=MPI_INT file=[0,1,2,3]", 4 * rank), MPI_File_read_at_all(file, 4 * rank, buf, 3, MPI_INT, MPI_STATUS_IGNORE));
	TOGETHER(("File_sync file=[0,1,2,3]"), MPI_File_sync(file));
	TOGETHER(("File_set_size size=1024 file=[0,1,2,3]"), MPI_File_set_size(file, 1024));
	TOGETHER(("File_close file=[0,1,2,3]"), MPI_File_close(&file));
}
